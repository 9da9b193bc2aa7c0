{{/*
Parts of the admission policies on what the operator's account writes (admission-operator.yaml, admission-operator-pods.yaml).
*/}}

{{/* The service account of the operator, as requests name it. */}}
{{- define "windlass.operatorUser" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "windlass.fullname" . }}-operator
{{- end }}

{{/*
A policy on requests of the operator's account, up to its `matchConditions`: `variables` and `validations` follow it.
Takes (list $ "suffix" rules): a rule is (list "group" (list "resource") (list "OPERATION")).
*/}}
{{- define "windlass.operatorPolicy" -}}
{{- $root := index . 0 }}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ include "windlass.fullname" $root }}-operator-{{ index . 1 }}
  labels: {{- include "windlass.labels" (list $root "access") | nindent 4 }}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      {{- range index . 2 }}
      - apiGroups: {{ list (index . 0) | toJson }}
        apiVersions: ["*"]
        operations: {{ index . 2 | toJson }}
        resources: {{ index . 1 | toJson }}
      {{- end }}
  matchConditions:
    - name: is-operator
      expression: request.userInfo.username == '{{ include "windlass.operatorUser" $root }}'
{{- end }}

{{/* The binding of such a policy, after it. Takes (list $ "suffix"). */}}
{{- define "windlass.operatorBinding" -}}
{{- $root := index . 0 }}
{{- $name := printf "%s-operator-%s" (include "windlass.fullname" $root) (index . 1) }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ $name }}
  labels: {{- include "windlass.labels" (list $root "access") | nindent 4 }}
spec:
  policyName: {{ $name }}
  validationActions: [Deny]
{{- end }}

{{/*
The environment variables of a project's pods whose values the chart knows, as JSON, which CEL reads: what the operator derives from its
own environment (operator/project/manifests.ts), over `runner.env`. EGRESS_ALLOW is not among them, since projects may add to it. NODE_OPTIONS is there only where `runner.env` does not set it.
*/}}
{{- define "windlass.runnerEnvironment" -}}
{{- $own := dict "REDIS_URL" (include "windlass.redisURL" .) "LOG_LEVEL" .Values.logLevel "METRICS_PORT" "9090" }}
{{- $_ := set $own "EGRESS_DENY" (join "," .Values.runner.egress.deny) }}
{{- $_ := set $own "AUDIT_ENABLED" (toString .Values.audit.enabled) }}
{{- $_ := set $own "AUDIT_USES_PER_SECOND" (toString .Values.audit.credentialUsesPerSecond) }}
{{- if not .Values.runner.code.enabled }}
{{- $_ := set $own "CODE_ENABLED" "false" }}
{{- end }}
{{- if .Values.prices.models }}
{{- $_ := set $own "MODEL_PRICES" (toJson .Values.prices) }}
{{- end }}
{{- if include "windlass.redisAuthority" . }}
{{- $_ := set $own "REDIS_CA_FILE" "/etc/windlass/run-store/ca.crt" }}
{{- end }}
{{- $heap := dict "NODE_OPTIONS" "--max-old-space-size-percentage=50 --max-semi-space-size=16 --v8-pool-size=1 --expose-gc" }}
{{- merge $own .Values.runner.env $heap | toJson }}
{{- end }}
