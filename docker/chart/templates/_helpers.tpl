{{- define "tallytree.fullname" -}}
{{- if contains "tallytree" .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-tallytree" (.Release.Name | trunc 40 | trimSuffix "-") }}
{{- end -}}
{{- end -}}

{{- define "tallytree.selector" -}}
app.kubernetes.io/name: tallytree
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "tallytree.labels" -}}
{{ include "tallytree.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "tallytree.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "tallytree.fullname" .) }}
{{- end -}}

{{- define "tallytree.fromSecret" -}}
- name: {{ .key }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret }}
      key: {{ .key }}
      {{- if .optional }}
      optional: true
      {{- end }}
{{- end -}}
