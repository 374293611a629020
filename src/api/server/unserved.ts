/** Endpoints that clients ask by default and that are not served, with what to use instead. The first match counts. */
const UNSERVED: readonly (readonly [path: RegExp, instead: string])[] = [
  [
    /^\/(v1\/)?responses(\/|$)/,
    'The Responses API is not served. Use POST /v1/chat/completions: `client.chat.completions.create(…)` in place of ' +
      "`client.responses.create(…)`, `createOpenAI(…).chat('model')` in the AI SDK, `use_responses_api=False` in LangChain, " +
      '`OpenAIChatCompletionsModel` in the Agents SDK.',
  ],
  [
    /^\/(v1\/)?(messages|complete)(\/|$)/,
    "Anthropic's API is not served. Use POST /v1/chat/completions with a client for OpenAI's API, whose base URL ends in /v1.",
  ],
  [
    /^\/(v1\/)?(completions|engines\/[^/]+\/completions)$/,
    'Completions of a text are not served. Use POST /v1/chat/completions with `messages` in place of `prompt`.',
  ],
  [
    /^\/v1(beta\d*|alpha)?\/models\/[^/]+:\w+$/,
    "Gemini's own API is not served. Use POST /v1/chat/completions with a client for OpenAI's API.",
  ],
  [
    /^\/(openai\/)?deployments\/|^\/openai\//,
    "Azure's paths are not served. Use POST /v1/chat/completions with the model in the body, and a base URL that ends in /v1.",
  ],
  [
    /^\/api\/(chat|generate|tags|show|embed|embeddings)$/,
    "Ollama's own API is not served. Use POST /v1/chat/completions and GET /v1/models.",
  ],
  [
    /^\/(chat\/completions|models)$/,
    'The base URL has to end in /v1: POST /v1/chat/completions, GET /v1/models.',
  ],
  [
    /^\/(v1\/)?(embeddings|rerank|moderations|images|videos|audio|realtime|batches|uploads|vector_stores|evals|containers)(\/|$)/,
    'Of models only chat is served, with POST /v1/chat/completions. For this one ask the provider directly; the call can be ' +
      'traced with an SDK.',
  ],
  [
    /^\/(v1\/)?(assistants|threads|conversations|chatkit)(\/|$)/,
    'Conversations are not kept at the gateway. Use POST /v1/chat/completions with all messages.',
  ],
]

/** What to use in place of an endpoint that is not served; undefined for a path that no client is known to ask. */
export const insteadOf = (path: string): string | undefined =>
  UNSERVED.find(([pattern]) => pattern.test(path.replace(/\/+$/, '')))?.[1]
