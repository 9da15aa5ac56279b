{{- define "preadmit.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "preadmit.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "preadmit.selector" -}}
app.kubernetes.io/name: {{ include "preadmit.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "preadmit.labels" -}}
{{ include "preadmit.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "preadmit.metadata" -}}
name: {{ include "preadmit.fullname" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "preadmit.labels" . | nindent 2 }}
{{- end }}

{{- define "preadmit.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "preadmit.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "preadmit.secret" -}}
{{- default (include "preadmit.fullname" .) .Values.secret.existingSecret }}
{{- end }}

{{- define "preadmit.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}
{{- end }}

{{- /* Whether the queue is outside. */}}
{{- define "preadmit.external" -}}
{{- if dig "nats" "url" "" .Values.config }}yes{{ end }}
{{- end }}

{{- /* The port of an address like :8080. */}}
{{- define "preadmit.port" -}}
{{- splitList ":" . | last }}
{{- end }}

{{- /* A size like 512Mi or 2Gi in Mi, which the schema holds sizes to. */}}
{{- define "preadmit.mebibytes" -}}
{{- if hasSuffix "Gi" . }}{{ trimSuffix "Gi" . | int | mul 1024 }}{{ else }}{{ trimSuffix "Mi" . | int }}{{ end }}
{{- end }}

{{- /* What no schema can say. */}}
{{- define "preadmit.check" -}}
{{- $need := include "preadmit.mebibytes" .Values.config.scan.memory | int | mul (int .Values.config.scan.concurrency) | add 1024 }}
{{- $have := include "preadmit.mebibytes" .Values.resources.limits.memory | int }}
{{- if lt $have (int $need) }}
{{- fail (printf "resources.limits.memory: %dMi is needed, not %s: config.scan.concurrency (%v) times config.scan.memory (%s), and 1Gi for the service" $need .Values.resources.limits.memory .Values.config.scan.concurrency .Values.config.scan.memory) }}
{{- end }}
{{- $given := or .Values.secret.privateKey .Values.secret.webhookSecret .Values.secret.clientSecret }}
{{- if and .Values.secret.existingSecret $given }}
{{- fail "secret.existingSecret: given beside other values of secret; give one or the other" }}
{{- end }}
{{- if not (or .Values.secret.existingSecret (and .Values.secret.privateKey .Values.secret.webhookSecret)) }}
{{- fail "secret.existingSecret: name a Secret with the keys private-key.pem, webhook-secret and client-secret; or, worse, give secret.privateKey, secret.webhookSecret and secret.clientSecret" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "ingress.host: is needed with ingress.enabled, as in config.publicURL" }}
{{- end }}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}
{{- fail "httpRoute.parentRefs: is needed with httpRoute.enabled: name the Gateway" }}
{{- end }}
{{- end }}
