{{- define "palimpsest.name" -}}
{{- if contains "palimpsest" .Release.Name -}}
{{- .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-palimpsest" .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "palimpsest.selector" -}}
app.kubernetes.io/name: palimpsest
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "palimpsest.labels" -}}
{{ include "palimpsest.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | replace "+" "_" | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | quote }}
{{- end }}

{{- define "palimpsest.secret" -}}
{{- .Values.secret.existing | default (include "palimpsest.name" .) -}}
{{- end }}

{{- /* The pod of a component: its command, the Secret it reads, and what else its container has. */ -}}
{{- define "palimpsest.pod" -}}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
automountServiceAccountToken: false
enableServiceLinks: false # they would be variables of the name PALIMPSEST_…
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
containers:
  - name: {{ .component }}
    {{- with .root.Values.image }}
    image: {{ empty .digest | ternary (printf "%s:%s" .repository .tag) (printf "%s@%s" .repository .digest) | quote }}
    imagePullPolicy: {{ .pullPolicy }}
    {{- end }}
    args: [{{ .command }}]
    env:
      - { name: PALIMPSEST_SECRETS_DIR, value: /run/secrets/palimpsest }
      {{- if .root.Values.archiveClaim }}
      - { name: PALIMPSEST_ARCHIVE_DIR, value: /archive }
      {{- end }}
      {{- range $name, $value := .root.Values.settings }}
      - { name: {{ $name }}, value: {{ $value | quote }} }
      {{- end }}
    securityContext:
      readOnlyRootFilesystem: true
      allowPrivilegeEscalation: false
      capabilities: { drop: [ALL] }
    volumeMounts:
      - { name: secrets, mountPath: /run/secrets/palimpsest, readOnly: true }
      - { name: tmp, mountPath: /tmp }
      - { name: home, mountPath: /data } # without a home, a client of Postgres has no TLS
      {{- if .root.Values.archiveClaim }}
      - { name: archive, mountPath: /archive }
      {{- end }}
    {{- with .container }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
volumes:
  - name: secrets
    secret: { secretName: {{ .secret }}, defaultMode: 0440 }
  - name: tmp
    emptyDir: {}
  - name: home
    emptyDir: {}
  {{- with .root.Values.archiveClaim }}
  - name: archive
    persistentVolumeClaim: { claimName: {{ . }} }
  {{- end }}
{{- with .root.Values.scheduling }}
{{ toYaml . }}
{{- end }}
{{- end }}
