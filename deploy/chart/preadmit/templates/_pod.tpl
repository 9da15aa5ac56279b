{{- /* The template of the Pods, one for both kinds of workload. */}}
{{- define "preadmit.pod" -}}
metadata:
  annotations:
    kubectl.kubernetes.io/default-container: preadmit
    # A new configuration makes new Pods.
    checksum/config: {{ toYaml .Values.config | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  labels:
    {{- include "preadmit.selector" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "preadmit.serviceAccount" . }}
  automountServiceAccountToken: false
  # A Service called preadmit would put PREADMIT_PORT and the like into the environment,
  # where the service looks for its settings.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - topologyKey: {{ . }}
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "preadmit.selector" $ | nindent 8 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
  - name: preadmit
    image: {{ include "preadmit.image" . }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    args:
    - serve
    - --config=/etc/preadmit/config/serve.yaml
    workingDir: {{ .Values.config.dataDir }}
    env:
    # Of the service itself: what scans leave of the limit, but for 124MiB. Scans run in
    # processes of their own, with an empty environment and the configuration's scan.memory.
    - name: GOMEMLIMIT
      value: {{ sub (div (include "preadmit.serviceMemory" .) 1048576) 124 }}MiB
    - name: TMPDIR
      value: {{ .Values.config.dataDir }}/tmp
    {{- with .Values.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    ports:
    - name: http
      containerPort: {{ include "preadmit.port" .Values.config.listen }}
    - name: metrics
      containerPort: {{ include "preadmit.port" .Values.config.metricsListen }}
    startupProbe:
      httpGet:
        path: /healthz
        port: http
      periodSeconds: 2
      failureThreshold: 60
    livenessProbe:
      httpGet:
        path: /healthz
        port: http
      periodSeconds: 10
      timeoutSeconds: 5
      failureThreshold: 6
    readinessProbe:
      httpGet:
        path: /readyz
        port: http
      periodSeconds: 5
      timeoutSeconds: 5
    lifecycle:
      preStop:
        # GitHub does not repeat what it could not deliver: go on answering until nobody
        # sends here any more.
        sleep:
          seconds: 5
    resources:
      {{- toYaml .Values.resources | nindent 6 }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities:
        drop:
        - ALL
    volumeMounts:
    - name: data
      mountPath: {{ .Values.config.dataDir }}
    - name: scratch
      mountPath: {{ .Values.config.dataDir }}/tmp
    - name: config
      mountPath: /etc/preadmit/config
      readOnly: true
    # The directory, not single files: Kubernetes renews only that, and the service reads
    # its secrets again when they change.
    - name: secrets
      mountPath: /etc/preadmit/secrets
      readOnly: true
    {{- with .Values.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
  - name: scratch
    emptyDir:
      sizeLimit: {{ .Values.scratchSize }}
  - name: config
    configMap:
      name: {{ include "preadmit.fullname" . }}
  - name: secrets
    secret:
      secretName: {{ include "preadmit.secret" . }}
      defaultMode: 0440
  {{- if include "preadmit.external" . }}
  - name: data
    emptyDir:
      sizeLimit: 1Gi
  {{- else if .Values.persistence.existingClaim }}
  - name: data
    persistentVolumeClaim:
      claimName: {{ .Values.persistence.existingClaim }}
  {{- end }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
