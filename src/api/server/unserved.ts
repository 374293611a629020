/** Endpoints that clients ask by default and that are not served, with what to use instead. The first match counts. */
const UNSERVED: readonly (readonly [path: RegExp, instead: string])[] = [
  [
    /^\/v1\/responses\/(compact|input_tokens)$/,
    'Responses are not compacted, nor are their tokens counted. Use POST /v1/responses with the whole `input`; the answer has ' +
      'the `usage`.',
  ],
  [
    /^\/v1\/responses(\/|$)/,
    'Responses are not kept, so they cannot be read, canceled or deleted. Use POST /v1/responses with the whole conversation ' +
      'in `input`, without `previous_response_id` and `background`.',
  ],
  [
    /^\/(v1\/)?(messages\/)?batches(\/|$)/,
    'Batches are not served. Use POST /v1/messages or POST /v1/chat/completions for each request.',
  ],
  [/^\/(v1\/)?complete$/, 'Texts in the form of Anthropic are not completed. Use POST /v1/messages.'],
  [/^\/(v1\/)?engines\//, 'Use POST /v1/completions with the model in the body.'],
  [
    /^\/v1(beta\d*|alpha)(\/|$)|^\/v1\/models\/[^/]+:\w+$/,
    "Gemini's own API is not served. Use POST /v1/chat/completions, /v1/responses or /v1/messages.",
  ],
  [
    /^\/(openai\/)?deployments\/|^\/openai\//,
    "Azure's paths are not served. Use POST /v1/chat/completions or /v1/responses with the model in the body, and a base URL " +
      'that ends in /v1.',
  ],
  [
    /^\/api\/(chat|generate|tags|show|embed|embeddings)$/,
    "Ollama's own API is not served. Use POST /v1/chat/completions, POST /v1/embeddings and GET /v1/models.",
  ],
  [
    /^\/(v1\/)?(images|videos|audio|realtime|uploads|vector_stores|evals|containers)(\/|$)/,
    'Of models text is served, with POST /v1/chat/completions, /v1/responses, /v1/messages, /v1/completions, /v1/embeddings, ' +
      '/v1/moderations and /v1/rerank. For this one ask the provider directly; the call can be traced with an SDK.',
  ],
  [
    /^\/(v1\/)?(assistants|threads|conversations|chatkit)(\/|$)/,
    'Conversations are not kept at the gateway. Use POST /v1/responses or /v1/chat/completions with all messages.',
  ],
]

/** What to use in place of an endpoint that is not served; undefined for a path that no client is known to ask. */
export const insteadOf = (path: string): string | undefined =>
  UNSERVED.find(([pattern]) => pattern.test(path.replace(/\/+$/, '')))?.[1]
