{{- /* What no schema can say. Each mistake is told with the values that contradict one
another and what to do. The numbers are those of docs/serve.md, "Size". */}}
{{- define "preadmit.check" -}}
{{- include "preadmit.checkMemory" . }}
{{- include "preadmit.checkScratch" . }}
{{- include "preadmit.checkVolume" . }}
{{- include "preadmit.checkEnd" . }}
{{- include "preadmit.checkGiven" . }}
{{- end }}

{{- /* A size like 512Mi or 2Gi in bytes; the schema holds sizes to this form. */}}
{{- define "preadmit.bytes" -}}
{{- $factors := dict "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 }}
{{- mul (regexFind "^[0-9]+" .) (get $factors (regexFind "[KMGT]i$" .) | default 1) }}
{{- end }}

{{- /* A number of bytes as people write it, rounded up. */}}
{{- define "preadmit.mebibytes" -}}
{{- div (add . 1048575) 1048576 }}Mi
{{- end }}

{{- /* A time like 1m30s in seconds, rounded up. */}}
{{- define "preadmit.seconds" -}}
{{- toDate "2006-01-02Z07:00" "1970-01-01Z" | mustDateModify . | mustDateModify "999ms" | unixEpoch }}
{{- end }}

{{- /* Where one process of a container has no memory left, the kernel ends all of them. */}}
{{- define "preadmit.checkMemory" -}}
{{- $scan := .Values.config.scan }}
{{- $have := .Values.resources.limits.memory }}
{{- $service := include "preadmit.serviceNeeds" . | int64 }}
{{- if lt (include "preadmit.serviceMemory" . | int64) $service }}
{{- $need := add $service (mul $scan.concurrency (include "preadmit.bytes" $scan.memory)) }}
{{- fail (printf "resources.limits.memory: %s is needed, not %s: config.scan.concurrency (%v) times config.scan.memory (%s), and %s for the service; raise it, or lower one of these" (include "preadmit.mebibytes" $need) $have $scan.concurrency $scan.memory (include "preadmit.mebibytes" $service)) }}
{{- end }}
{{- end }}

{{- /* The bytes of memory that the service needs besides its scans: 1Gi holds the 100,000
scans that config.keep.scans is by default. A queue outside holds them outside. */}}
{{- define "preadmit.serviceNeeds" -}}
{{- $scans := dig "keep" "scans" 100000 .Values.config | int64 }}
{{- add 1073741824 (ternary 0 (max 0 (sub $scans 100000)) (include "preadmit.external" . | eq "yes") | mul 2304) }}
{{- end }}

{{- /* The bytes of memory that scans leave to the service. */}}
{{- define "preadmit.serviceMemory" -}}
{{- $scan := .Values.config.scan }}
{{- sub (include "preadmit.bytes" .Values.resources.limits.memory) (mul $scan.concurrency (include "preadmit.bytes" $scan.memory)) }}
{{- end }}

{{- /* A Pod whose scratch space is full is evicted, and pull requests fill it. */}}
{{- define "preadmit.checkScratch" -}}
{{- $config := .Values.config }}
{{- $have := .Values.scratchSize }}
{{- $artifacts := ternary "0" $config.artifacts.size (eq $config.artifacts.fetch "off") }}
{{- $outside := mul (add 2 $config.scan.concurrency) (include "preadmit.bytes" $artifacts) }}
{{- $need := div (add 1 $outside (mul 3 $config.scan.concurrency (include "preadmit.bytes" $config.fetch.size))) 2 }}
{{- if lt (include "preadmit.bytes" $have | int64) $need }}
{{- fail (printf "scratchSize: %s is needed, not %s: config.scan.concurrency (%v) times config.fetch.size (%s), half as much again, and config.artifacts.size (%s) with half as much for each scan; raise it, or lower one of these" (include "preadmit.mebibytes" $need) $have $config.scan.concurrency $config.fetch.size $artifacts) }}
{{- end }}
{{- $limit := index .Values.resources.limits "ephemeral-storage" | default "" }}
{{- if and $limit (le (include "preadmit.bytes" $limit | int64) (include "preadmit.bytes" $have | int64)) }}
{{- fail (printf "resources.limits.ephemeral-storage: more than scratchSize (%s) is needed, not %s, since the log counts too; raise it, or lower scratchSize" $have $limit) }}
{{- end }}
{{- end }}

{{- /* A volume that is full takes no deliveries. How large a claim is that is there already
is not known here. */}}
{{- define "preadmit.checkVolume" -}}
{{- $keep := .Values.config.keep.size }}
{{- $have := .Values.persistence.size }}
{{- $need := div (add 1 (mul 3 (include "preadmit.bytes" $keep))) 2 }}
{{- if not (or (include "preadmit.external" .) .Values.persistence.existingClaim) }}
{{- if lt (include "preadmit.bytes" $have | int64) $need }}
{{- fail (printf "persistence.size: %s is needed, not %s: config.keep.size (%s), and half as much again; raise it, or lower config.keep.size" (include "preadmit.mebibytes" $need) $have $keep) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* A Pod that is killed while it drains has its scans done again. */}}
{{- define "preadmit.checkEnd" -}}
{{- $drain := .Values.config.drain }}
{{- $have := .Values.terminationGracePeriodSeconds }}
{{- $need := add 25 (include "preadmit.seconds" $drain) }}
{{- if lt (int64 $have) $need }}
{{- fail (printf "terminationGracePeriodSeconds: %d is needed, not %v: config.drain (%s), 5 seconds before it and 20 after it; raise it, or lower config.drain" $need $have $drain) }}
{{- end }}
{{- end }}

{{- define "preadmit.checkGiven" -}}
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
