{{/* What the one Redis of the chart and its replicated members have in common. */}}
{{- define "windlass.redisArguments" -}}
- --dir /data
- --aclfile /data/users.acl
# What was answered with 2xx is on the disk.
- --appendonly yes
- --appendfsync always
- --save ""
# A full store refuses what is new and forgets nothing.
- --maxmemory {{ include "windlass.mebibytes" .Values.redis.memory }}mb
- --maxmemory-policy noeviction
# The hash of a run takes less than half of the memory: up to 64 fields of at most 1 KiB in one piece.
- --hash-max-listpack-entries 64
- --hash-max-listpack-value 1024
- --protected-mode no
{{- if .Values.redis.tls.enabled }}
# TLS alone, but for a socket that the pod's containers share.
- --port 0
- --tls-port 6379
- --tls-cert-file /etc/windlass/tls/tls.crt
- --tls-key-file /etc/windlass/tls/tls.key
- --tls-protocols "TLSv1.2 TLSv1.3"
# Clients are known by their passwords.
- --tls-auth-clients no
- --unixsocket /run/windlass/redis.sock
- --unixsocketperm 700
{{- end }}
{{- end }}

{{/* The container that follows the certificate. */}}
{{- define "windlass.redisCertificate" -}}
# Has Redis reload its certificate when that changes.
- name: certificate
  image: {{ .Values.redis.image | quote }}
  imagePullPolicy: IfNotPresent
  command: [sh, /scripts/certificate.sh, /etc/windlass/tls, /etc/windlass/run-store/ca.crt, /run/windlass, "16379"]
  volumeMounts:
    - { name: run, mountPath: /run/windlass }
    - { name: scripts, mountPath: /scripts, readOnly: true }
    - { name: certificate, mountPath: /etc/windlass/tls, readOnly: true }
    - { name: run-store-ca, mountPath: /etc/windlass/run-store, readOnly: true }
  resources:
    requests: { cpu: 10m, memory: 16Mi }
    limits: { memory: 64Mi }
  {{- include "windlass.containerSecurity" . | nindent 2 }}
{{- end }}

{{- define "windlass.redisCertificateVolumes" -}}
- name: certificate
  secret:
    secretName: {{ include "windlass.certificateSecret" (list . "redis" "redis") }}
    items: [{ key: tls.crt, path: tls.crt }, { key: tls.key, path: tls.key }]
    defaultMode: 0440
# What clients trust.
- {{ include "windlass.redisAuthority" . | fromYaml | toYaml | nindent 2 | trim }}
{{- end }}

{{- define "windlass.redisClaim" -}}
volumeClaimTemplates:
  - metadata:
      name: data
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .Values.redis.storage.className }}
      storageClassName: {{ . }}
      {{- end }}
      resources:
        requests: { storage: {{ .Values.redis.storage.size }} }
{{- end }}

{{/* What the scripts of members get (files/redis/members.sh). */}}
{{- define "windlass.memberEnvironment" -}}
{{- $names := list }}
{{- range include "windlass.members" . | fromJsonArray }}{{ $names = append $names (printf "%s.%s.svc" . $.Release.Namespace) }}{{ end }}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- { name: SELF, value: $(POD_NAME).{{ .Release.Namespace }}.svc }
- { name: MEMBERS, value: {{ join " " $names }} }
- { name: PRIMARY_NAME, value: {{ .Values.redis.sentinel.primary | quote }} }
- { name: PORT, value: "6379" }
- { name: SENTINEL_PORT, value: "26379" }
- { name: DATA, value: /data }
- { name: RUN, value: /run/windlass }
{{- if .Values.redis.tls.enabled }}
- { name: TLS_FILES, value: /etc/windlass/tls }
- { name: TLS_AUTHORITY, value: /etc/windlass/run-store/ca.crt }
{{- end }}
{{- end }}

{{- define "windlass.memberMounts" -}}
- { name: data, mountPath: /data }
- { name: scripts, mountPath: /scripts, readOnly: true }
- { name: run, mountPath: /run/windlass }
{{- if .Values.redis.tls.enabled }}
- { name: certificate, mountPath: /etc/windlass/tls, readOnly: true }
- { name: run-store-ca, mountPath: /etc/windlass/run-store, readOnly: true }
{{- end }}
{{- end }}
