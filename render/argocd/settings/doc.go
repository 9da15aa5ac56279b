// Package settings reads the settings of an Argo CD that influence what it applies: the ConfigMap argocd-cm, and the
// fields that ignoreDifferences selects, there and in Applications.
package settings
