{{- /* Generated from api/ by `npm run generate`. Do not edit. */}}
{{- define "windlass.tokensSecret" -}}
windlass-tokens
{{- end }}
{{- define "windlass.secretsOfCredentials" -}}
smtp.passwordRef
imap.passwordRef
openai.apiKeyRef
anthropic.apiKeyRef
oauth2.clientSecretRef
bot.tokenRef
bot.signingSecretRef
http.basic.passwordRef
http.bearer.tokenRef
http.header.valueRef
http.query.valueRef
s3.accessKeyIdRef
s3.secretAccessKeyRef
{{- end }}
{{- define "windlass.secretsOfWebhooks" -}}
hmac.secretRefs
standardWebhooks.secretRefs
github.secretRefs
bearer.secretRefs
basic.passwordRefs
{{- end }}
