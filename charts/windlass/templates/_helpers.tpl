{{/* The name that everything starts with: the release's, with "windlass" in it. */}}
{{- define "windlass.fullname" -}}
{{- if contains "windlass" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-windlass{{ end }}
{{- end }}

{{/* Labels that never change, by which pods are found. Takes (list $ "component"). */}}
{{- define "windlass.selector" -}}
app.kubernetes.io/name: windlass
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* All labels. Takes (list $ "component"). */}}
{{- define "windlass.labels" -}}
{{ include "windlass.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ (index . 0).Chart.Name }}-{{ (index . 0).Chart.Version }}
{{- end }}

{{/* Labels of pods: none that changes with the version of the chart, since another label is another pod. Takes (list $ "component"). */}}
{{- define "windlass.podLabels" -}}
{{ include "windlass.selector" . }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
{{- end }}

{{- define "windlass.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* What every pod says of itself: for Pod Security "restricted", and without variables for every Service around it. */}}
{{- define "windlass.podSecurity" -}}
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "windlass.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* Where a pod runs and from which registries it may pull. */}}
{{- define "windlass.placement" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/*
As windlass.placement, for pods without a volume: those of a lost node are replaced after lostNodeSeconds. A toleration of the values for
the same taint takes the place of ours.
*/}}
{{- define "windlass.replaceable" -}}
{{- $tolerations := .Values.tolerations }}
{{- $known := list }}
{{- range .Values.tolerations }}{{ $known = append $known (default "" .key) }}{{ end }}
{{- range list "node.kubernetes.io/not-ready" "node.kubernetes.io/unreachable" }}
{{- if not (or (has . $known) (has "" $known)) }}
{{- $tolerations = append $tolerations (dict "key" . "operator" "Exists" "effect" "NoExecute" "tolerationSeconds" (int $.Values.lostNodeSeconds)) }}
{{- end }}
{{- end }}
{{- include "windlass.placement" (dict "Values" (merge (dict "tolerations" $tolerations) (omit .Values "tolerations"))) }}
{{- end }}

{{/*
How the pods of a program are spread: the constraints of its values, for the pods of one revision of its Deployment. Takes
(list $ "component").
*/}}
{{- define "windlass.spread" -}}
{{- $of := include "windlass.selector" . | fromYaml }}
{{- with (get (index . 0).Values (index . 1)).topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  - {{ merge (deepCopy .) (dict "labelSelector" (dict "matchLabels" $of) "matchLabelKeys" (list "pod-template-hash")) | toYaml | nindent 4 | trim }}
  {{- end }}
{{- end }}
{{- end }}

{{/* The address that workflows show: as set, else the Ingress's, else the Service's. */}}
{{- define "windlass.publicURL" -}}
{{- $public := .Values.gateway.public -}}
{{- if $public.url }}{{ $public.url }}
{{- else if $public.ingress.enabled }}{{ ternary "https" "http" (ne $public.ingress.tlsSecret "") }}://{{ $public.ingress.host }}
{{- else }}{{ include "windlass.serviceURL" (list . "public") }}
{{- end }}
{{- end }}

{{/* Where a listener of the gateway answers inside the cluster. Takes (list $ "public") or "internal". */}}
{{- define "windlass.serviceURL" -}}
{{- $root := index . 0 }}
{{- $listener := get $root.Values.gateway (index . 1) }}
{{- $scheme := ternary "https" "http" $listener.tls.enabled }}
{{- $port := int $listener.service.port }}
{{- $scheme }}://{{ include "windlass.gatewayService" . }}.{{ $root.Release.Namespace }}.svc
{{- if ne $port (ternary 443 80 $listener.tls.enabled) }}:{{ $port }}{{ end }}
{{- end }}

{{- define "windlass.gatewayService" -}}
{{ include "windlass.fullname" (index . 0) }}-gateway{{ if eq (index . 1) "internal" }}-internal{{ end }}
{{- end }}

{{/* Not empty where the run store is an existing one: the chart then runs no Redis. */}}
{{- define "windlass.existingRedis" -}}
{{- if or .Values.redis.url (eq .Values.redis.topology "cluster") (and (eq .Values.redis.topology "sentinel") .Values.redis.sentinel.addresses) }}true{{ end }}
{{- end }}

{{/* The names of the replicated members of the chart's own run store, as JSON; empty where it has none. */}}
{{- define "windlass.members" -}}
{{- if and (eq .Values.redis.topology "sentinel") (not .Values.redis.sentinel.addresses) }}
{{- $name := include "windlass.fullname" . }}
{{- list (printf "%s-redis-0" $name) (printf "%s-redis-1" $name) (printf "%s-redis-2" $name) | toJson }}
{{- end }}
{{- end }}

{{- define "windlass.redisURL" -}}
{{- $redis := .Values.redis }}
{{- if eq $redis.topology "sentinel" }}
{{- $sentinel := $redis.sentinel }}
{{- $addresses := $sentinel.addresses }}
{{- $tls := $sentinel.tls }}
{{- with include "windlass.members" . }}
{{- $tls = $redis.tls.enabled }}
{{- range fromJsonArray . }}{{ $addresses = append $addresses (printf "%s.%s.svc:26379" . $.Release.Namespace) }}{{ end }}
{{- end }}
{{- printf "%s+sentinel://%s/%s?replicas=%d" (ternary "rediss" "redis" $tls) (join "," $addresses) $sentinel.primary (int $sentinel.replicas) }}
{{- else if eq $redis.topology "cluster" }}
{{- $cluster := $redis.cluster }}
{{- printf "%s+cluster://%s?replicas=%d" (ternary "rediss" "redis" $cluster.tls) (join "," $cluster.addresses) (int $cluster.replicas) }}
{{- else }}
{{- $scheme := ternary "rediss" "redis" $redis.tls.enabled }}
{{- $redis.url | default (printf "%s://%s-redis.%s.svc:6379" $scheme (include "windlass.fullname" .) .Release.Namespace) }}
{{- end }}
{{- end }}

{{/*
The Secret with the certificate of a server: the one that is named, else the one that cert-manager makes. Takes
(list $ "gateway.public" "gateway-public"): where its values are, and what its Certificate is called.
*/}}
{{- define "windlass.certificateSecret" -}}
{{- $root := index . 0 }}
{{- $tls := $root.Values }}
{{- range splitList "." (index . 1) }}{{ $tls = get $tls . }}{{ end }}
{{- $tls = $tls.tls }}
{{- if $tls.secretName }}{{ $tls.secretName }}
{{- else if $root.Values.certManager.enabled }}{{ include "windlass.fullname" $root }}-{{ index . 2 }}-tls
{{- else }}
{{- fail (printf "%s.tls.enabled needs a certificate: set %s.tls.secretName to a Secret with tls.crt and tls.key, or certManager.enabled=true and certManager.issuerRef.name" (index . 1) (index . 1)) }}
{{- end }}
{{- end }}

{{/* The volume with the authority of the certificate of Redis; empty where there is none to check with but public ones. */}}
{{- define "windlass.redisAuthority" -}}
{{- $redis := .Values.redis }}
{{- if and (include "windlass.existingRedis" .) $redis.tls.enabled }}
{{- fail "redis.tls.enabled is for the chart's own Redis: for an existing one begin redis.url with rediss://, or set redis.sentinel.tls=true or redis.cluster.tls=true" }}
{{- end }}
{{- with $redis.tls.caRef }}
{{- if .name }}
{{- if not (hasPrefix "rediss" (include "windlass.redisURL" $)) }}
{{- fail "redis.tls.caRef needs TLS: set redis.tls.enabled=true, or for an existing Redis begin redis.url with rediss://, or set redis.sentinel.tls=true or redis.cluster.tls=true" }}
{{- end }}
name: run-store-ca
configMap: { name: {{ .name | quote }}, items: [{ key: {{ .key | quote }}, path: ca.crt }] }
{{- else if $redis.tls.enabled }}
name: run-store-ca
secret:
  secretName: {{ include "windlass.certificateSecret" (list $ "redis" "redis") }}
  items: [{ key: ca.crt, path: ca.crt }]
{{- end }}
{{- end }}
{{- end }}

{{/* The Secret with operator-password and gateway-password. The operator makes that of the chart's own Redis. */}}
{{- define "windlass.redisSecret" -}}
{{ .Values.redis.existingSecret | default (printf "%s-run-store" (include "windlass.fullname" .)) }}
{{- end }}

{{/*
How much of its container's memory the heap of a program may take, given its resources: half, since what is outside of the heap needs
room. By itself Node takes at least 256 MiB for its heap, also where that is all that the container has.
*/}}
{{- define "windlass.heap" -}}
{{- if dig "limits" "memory" "" . }}
- name: NODE_OPTIONS
  value: --max-old-space-size-percentage=50
{{- end }}
{{- end }}

{{/* How the number of runners follows the backlog, as JSON for the operator; empty where it is fixed. */}}
{{- define "windlass.autoscaling" -}}
{{- with .Values.runner.autoscaling }}
{{- if eq (.engine | default "") "External" }}
{{- if gt (len .) 1 }}
{{- fail "runner.autoscaling: External takes neither min nor max nor targetBacklogSeconds" }}
{{- end }}
{{- else if not (and .engine .max) }}
{{- fail "runner.autoscaling requires engine, and max with the engines Builtin and KEDA" }}
{{- else if gt (int (.min | default 1)) (int .max) }}
{{- fail "runner.autoscaling.min must not be more than runner.autoscaling.max" }}
{{- end }}
{{- toJson . }}
{{- end }}
{{- end }}

{{/* After how long without work the runners of a project sleep. */}}
{{- define "windlass.sleepAfter" -}}
{{- $milliseconds := 0.0 }}
{{- $units := dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000 }}
{{- range regexFindAll "[0-9.]+(ms|s|m|h|d)" .Values.runner.sleepAfter -1 }}
{{- $unit := regexFind "[a-z]+" . }}
{{- $milliseconds = addf $milliseconds (mulf (trimSuffix $unit .) (get $units $unit)) }}
{{- end }}
{{- if $milliseconds }}
{{- if ne (.Values.runner.autoscaling.engine | default "Builtin") "Builtin" }}
{{- fail "runner.sleepAfter requires the engine Builtin, or no runner.autoscaling" }}
{{- end }}
{{- if or (lt $milliseconds 30000.0) (gt $milliseconds 2592000000.0) }}
{{- fail "runner.sleepAfter must be 0s, or from 30s to 30d" }}
{{- end }}
{{- end }}
{{- .Values.runner.sleepAfter }}
{{- end }}

{{/* The most runners that the operator may give a project. */}}
{{- define "windlass.mostRunners" -}}
{{ max .Values.runner.replicas (.Values.runner.autoscaling.max | default 1) .Values.projectSettings.maxReplicas }}
{{- end }}

{{/* Not empty where KEDA scales the runners of all projects, or a project may choose it. */}}
{{- define "windlass.usesKEDA" -}}
{{- if or (eq (.Values.runner.autoscaling.engine | default "") "KEDA") (has "KEDA" .Values.projectSettings.autoscalingEngines) }}true{{ end }}
{{- end }}

{{/* Where KEDA asks the operator. */}}
{{- define "windlass.scalingURL" -}}
http://{{ include "windlass.fullname" . }}-operator.{{ .Release.Namespace }}.svc:9090
{{- end }}

{{/* What the ProjectSettings of a namespace may set at most, as JSON for the operator. */}}
{{- define "windlass.settingsBounds" -}}
{{- $bounds := .Values.projectSettings }}
{{- omit (merge (dict "egressAllow" $bounds.egress.allow) $bounds) "egress" | toJson }}
{{- end }}

{{/* A size such as 512Mi or 2Gi as a number of MiB. */}}
{{- define "windlass.mebibytes" -}}
{{- if hasSuffix "Gi" . }}{{ mul 1024 (trimSuffix "Gi" .) }}{{ else }}{{ trimSuffix "Mi" . }}{{ end }}
{{- end }}

{{/* What every program of ours reaches: names, the API server, the run store. */}}
{{- define "windlass.commonEgress" -}}
- ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
- ports:
    {{- range .Values.networkPolicies.apiServerPorts }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
{{- if include "windlass.existingRedis" . }}
{{- $ports := .Values.networkPolicies.redisPorts }}
{{- if eq .Values.redis.topology "sentinel" }}
{{- range .Values.redis.sentinel.addresses }}
{{- $ports = append $ports (regexFind "[0-9]+$" . | int) }}
{{- end }}
{{- else if eq .Values.redis.topology "cluster" }}
{{- range .Values.redis.cluster.addresses }}
{{- $ports = append $ports (regexFind "[0-9]+$" . | int) }}
{{- end }}
{{- end }}
- ports:
    {{- range $ports | uniq }}
    - { protocol: TCP, port: {{ int . }} }
    {{- end }}
{{- else }}
- ports:
    - { protocol: TCP, port: 6379 }
    {{- if include "windlass.members" . }}
    - { protocol: TCP, port: 26379 }
    {{- end }}
  to:
    - namespaceSelector:
        matchLabels: { kubernetes.io/metadata.name: {{ .Release.Namespace }} }
      podSelector:
        matchLabels: {{- include "windlass.selector" (list . "redis") | nindent 10 }}
{{- end }}
{{- end }}

{{/* Everywhere outside, as runners may. */}}
{{- define "windlass.outsideEgress" -}}
{{- $settings := .Values.networkPolicies.runner }}
- to:
    {{- range $cidr, $isOfFamily := dict "0.0.0.0/0" "\\." "::/0" ":" }}
    - ipBlock:
        cidr: {{ $cidr | quote }}
        {{- $except := list }}
        {{- range $settings.except }}{{ if regexMatch $isOfFamily . }}{{ $except = append $except . }}{{ end }}{{ end }}
        {{- if not $settings.cluster }}
        {{- $except = concat $except (ternary (list "10.0.0.0/8" "100.64.0.0/10" "172.16.0.0/12" "192.168.0.0/16") (list "fc00::/7") (eq $cidr "0.0.0.0/0")) | uniq }}
        {{- end }}
        {{- with $except }}
        except: {{ toJson . }}
        {{- end }}
    {{- end }}
    {{- if $settings.cluster }}
    - namespaceSelector: {}
    {{- end }}
{{- end }}

{{/* What the operator makes of a project's runners' NetworkPolicy: nobody comes in but for metrics; what goes out. */}}
{{- define "windlass.runnerNetwork" -}}
ingress:
  - ports:
      - { protocol: TCP, port: metrics }
egress:
  {{- include "windlass.commonEgress" . | nindent 2 }}
  # Everywhere outside, for mail, models and whatever else workflows call.
  {{- include "windlass.outsideEgress" . | nindent 2 }}
{{- end }}
