{{/*
What the programs may do in projects: in all namespaces, or in those of watchNamespaces. A test compares these rules with what
the programs do (test/e2e/rights.test.ts).
*/}}

{{/* Of the operator. It can only grant what it holds, so that the rights of runners are here too. */}}
{{- define "windlass.operatorRules" -}}
- apiGroups: [windlass.dev]
  resources: [workflows, credentials, projectsettings, evaluations]
  verbs: [get, list, watch]
# The mark on a credential whose bot is registered, so that it is not gone before its webhook is.
- apiGroups: [windlass.dev]
  resources: [credentials]
  verbs: [patch]
- apiGroups: [windlass.dev]
  resources: [workflows/status, credentials/status, workflowruns/status, projectsettings/status, evaluations/status]
  verbs: [patch]
- apiGroups: [windlass.dev]
  resources: [workflowruns]
  verbs: [get, list, watch, delete]
# To remove what a run was given (history.dataTTL); an admission policy admits no other change.
- apiGroups: [windlass.dev]
  resources: [workflowruns]
  verbs: [patch]
# For the Role of the runners, who make records, and for test runs of Evaluations. An admission policy admits no other run.
- apiGroups: [windlass.dev]
  resources: [workflowruns, workflows/execute]
  verbs: [create]
# Those that nobody has changed for long. It reads their metadata alone.
- apiGroups: [windlass.dev]
  resources: [workflowdrafts]
  verbs: [list, delete]
- apiGroups: [windlass.dev]
  resources: [webhookroutes]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [apps]
  resources: [controllerrevisions]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [batch]
  resources: [cronjobs]
  verbs: [get, list, watch, create, patch, delete]
# Whatever makes a runner pool has one name: nothing else of these kinds can be changed. A name cannot restrict create: what may be
# created is in admission-operator.yaml.
- apiGroups: [apps]
  resources: [deployments]
  verbs: [get, list, watch, create]
- apiGroups: [apps]
  resources: [deployments]
  resourceNames: [windlass-runner]
  verbs: [patch, delete]
- apiGroups: [""]
  resources: [serviceaccounts]
  verbs: [create]
- apiGroups: [rbac.authorization.k8s.io]
  resources: [roles, rolebindings]
  verbs: [create]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [create]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [create]
# What sets the number of runners beside the operator.
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [list]
{{- if include "windlass.usesKEDA" . }}
- apiGroups: [keda.sh]
  resources: [scaledobjects]
  verbs: [list, create]
- apiGroups: [keda.sh]
  resources: [scaledobjects]
  resourceNames: [windlass-runner]
  verbs: [patch, delete]
{{- end }}
# Why runners do not start, in the scheduler's words.
- apiGroups: [""]
  resources: [pods]
  verbs: [list]
# What people see in `kubectl describe`.
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
# The variables of projects; no other ConfigMap is watched.
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: [windlass-variables]
  verbs: [list, watch]
# The cases of Evaluations, by the names that these give.
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get]
# Never list: the operator reads only the Secrets that credentials and webhooks name, by name.
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, create]
- apiGroups: [""]
  resources: [serviceaccounts, secrets]
  resourceNames: [windlass-runner]
  verbs: [patch, delete]
# What the gateway verifies callers of webhooks with.
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [windlass-webhooks]
  verbs: [patch, delete]
# What providers have granted to credentials of kind oauth2: access tokens for runners, and the rest for the operator alone.
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [windlass-tokens, windlass-refresh-tokens]
  verbs: [patch]
- apiGroups: [rbac.authorization.k8s.io]
  resources: [roles, rolebindings]
  resourceNames: [windlass-runner]
  verbs: [patch, delete]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  resourceNames: [windlass-runner]
  verbs: [patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  resourceNames: [windlass-runner]
  verbs: [patch, delete]
{{- end }}

{{/* Of the gateway: what it serves, the records of runs that callers ask about, the credentials that callers connect. */}}
{{- define "windlass.gatewayRules" -}}
- apiGroups: [windlass.dev]
  resources: [webhookroutes]
  verbs: [list, watch]
- apiGroups: [windlass.dev]
  resources: [workflowruns]
  verbs: [get, list]
- apiGroups: [windlass.dev]
  resources: [credentials]
  verbs: [get]
# The one Secret of each project that callers of webhooks are verified with, and no other.
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [windlass-webhooks]
  verbs: [get]
{{- end }}

{{/* Rules in projects, granted to a ServiceAccount of the release. Takes (list $ "component" rules). */}}
{{- define "windlass.projectRights" -}}
{{- $root := index . 0 }}
{{- $component := index . 1 }}
{{- $rules := index . 2 }}
{{- $name := printf "%s-%s" (include "windlass.fullname" $root) $component }}
{{- $namespaces := $root.Values.watchNamespaces | default (list "") }}
{{- range $namespaces }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ ternary "ClusterRole" "Role" (empty .) }}
metadata:
  {{- if . }}
  name: {{ $name }}-project
  namespace: {{ . }}
  {{- else }}
  name: {{ $name }}
  {{- end }}
  labels: {{- include "windlass.labels" (list $root $component) | nindent 4 }}
rules:
  {{- $rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ ternary "ClusterRoleBinding" "RoleBinding" (empty .) }}
metadata:
  {{- if . }}
  name: {{ $name }}-project
  namespace: {{ . }}
  {{- else }}
  name: {{ $name }}
  {{- end }}
  labels: {{- include "windlass.labels" (list $root $component) | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  {{- if . }}
  kind: Role
  name: {{ $name }}-project
  {{- else }}
  kind: ClusterRole
  name: {{ $name }}
  {{- end }}
subjects:
  - { kind: ServiceAccount, name: {{ $name }}, namespace: {{ $root.Release.Namespace }} }
{{- end }}
{{- end }}

{{/* Rules that Kubernetes grants for the whole cluster alone. Takes (list $ "component" rules). */}}
{{- define "windlass.clusterRights" -}}
{{- $root := index . 0 }}
{{- $component := index . 1 }}
{{- $account := printf "%s-%s" (include "windlass.fullname" $root) $component }}
{{- $name := printf "%s-cluster" $account }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $name }}
  labels: {{- include "windlass.labels" (list $root $component) | nindent 4 }}
rules:
  {{- index . 2 | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $name }}
  labels: {{- include "windlass.labels" (list $root $component) | nindent 4 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ $name }} }
subjects:
  - { kind: ServiceAccount, name: {{ $account }}, namespace: {{ $root.Release.Namespace }} }
{{- end }}
