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
