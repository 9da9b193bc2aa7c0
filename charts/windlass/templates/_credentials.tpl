{{- /* Generated from api/ by `npm run generate`. Do not edit. */}}
{{- define "windlass.credentialsOfNodes" -}}
mail.credential
spreadsheet.credential
fileStorage.credential
bot.credential
agent.credential
agent.fallback[].credential
agent.tools[].credential
skill.credential
{{- end }}
