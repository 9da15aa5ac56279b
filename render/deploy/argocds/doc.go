// Package argocds finds the settings of Argo CDs that roots of a repository apply: a ConfigMap argocd-cm, or an object of
// the operator.
package argocds
