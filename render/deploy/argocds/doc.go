// Package argocds finds the settings of Argo CDs in rendered roots: a ConfigMap argocd-cm, or an object of the Argo CD
// operator.
package argocds
