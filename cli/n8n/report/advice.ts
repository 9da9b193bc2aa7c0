/** What to do about nodes of n8n that have no counterpart. */

const ADVICE: readonly [RegExp, string][] = [
  [
    /vectorStore|embeddings|documentDefaultDataLoader|documentLoader|textSplitter|retriever|chainRetrievalQa|toolVectorStore|reranker/i,
    'ask the vector store with http_request: one step for the embedding, one for the search, in a workflow that an agent can have as a tool',
  ],
  [
    /extractFromFile|convertToFile|readWriteFile|readBinaryFile|writeBinaryFile|spreadsheetFile|moveBinaryData|editImage|compression|readPDF|pdf/i,
    'items have no files: let a service read or write the file by http_request, download_file or upload_file, and pass its text on',
  ],
  [
    /postgres|mySql|microsoftSql|mongoDb|redis|snowflake|questDb|crateDb|timescaleDb|oracleDatabase|supabaseTool|dataTable/i,
    'ask the database by an HTTP API in front of it, with http_request',
  ],
  [/executeCommand|ssh|ftp|git$|localFile/i, 'run it behind an HTTP API, and call that with http_request'],
  [/\.form$/i, 'receive the fields of each page with a webhook, or with a wait for a callback'],
  [/mcpClientTool|mcpClient/i, 'write a workflow for each tool that the agent needs, and name it in tools'],
  [/agentTool/i, 'write a workflow with an agent, and name it in tools'],
  [/memoryManager|chatMemory/i, 'agents keep their memory themselves: set agent.memory'],
  [/\.lm[A-Z]|languageModel/, 'give the agent a credential and a model'],
  [/\.memory/, 'set agent.memory'],
  [/\.outputParser/, 'set agent.outputSchema'],
  [/\.tool[A-Z]|Tool$/, 'write a workflow that does it, and name it in tools of an agent'],
  [/\.n8n$/, 'use the API of Kubernetes, or windlass, for workflows and runs'],
];

const USUAL = 'request the API of the service with http_request, and a Credential of kind http';

/** A sentence that says what to do in place of a node of the type. */
export const adviceFor = (type: string): string =>
  ADVICE.find(([pattern]) => pattern.test(type))?.[1] ?? USUAL;
