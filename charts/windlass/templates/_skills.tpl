{{- /* Generated from nodes/ by `npm run generate`. Do not edit. */}}
{{- define "windlass.skillNames" -}}
['send_email','reply_email','send_message','http_request','set','remove_duplicates','read_rows','append_row','update_row','upload_file','download_file']
{{- end }}
{{- define "windlass.skillParameters" -}}
{'send_email':['to','cc','bcc','replyTo','multipleRecipients','subject','body','html'],'reply_email':['mail','to','cc','bcc','multipleRecipients','subject','body','html','answerAutomatic'],'send_message':['chatId','text','format','replyTo','linkPreview'],'http_request':['method','url','query','headers','body','contentType','response','expect','followRedirects','maxResponseBytes'],'set':['values'],'remove_duplicates':['items','key','ttl','limit'],'read_rows':['spreadsheetId','sheet','range','header','where','after','limit'],'append_row':['spreadsheetId','sheet','range','header','values','input'],'update_row':['spreadsheetId','sheet','range','header','row','keyColumn','key','values','input'],'upload_file':['folderId','name','content','encoding','mimeType','overwrite'],'download_file':['fileId','encoding','exportType','maxBytes']}
{{- end }}
{{- define "windlass.requiredParameters" -}}
{'send_email':['to','subject','body'],'reply_email':['mail','body'],'send_message':['chatId','text'],'http_request':['url'],'set':['values'],'remove_duplicates':['items'],'read_rows':['spreadsheetId'],'append_row':['spreadsheetId','values'],'update_row':['spreadsheetId','values'],'upload_file':['name','content'],'download_file':['fileId']}
{{- end }}
{{- define "windlass.credentialsOfSkills" -}}
{'send_email':'smtp','reply_email':'smtp','send_message':'bot','read_rows':'oauth2','append_row':'oauth2','update_row':'oauth2','upload_file':'s3 or oauth2','download_file':'s3 or oauth2'}
{{- end }}
{{- define "windlass.skillsWithoutCredential" -}}
['set','remove_duplicates']
{{- end }}
