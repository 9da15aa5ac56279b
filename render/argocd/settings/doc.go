// Package settings reads the settings of an Argo CD that change what it applies: the ConfigMap
// argocd-cm, and which fields ignoreDifferences leaves to others, there and in Applications.
package settings
