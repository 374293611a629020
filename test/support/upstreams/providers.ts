import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Arrival, Behaviour } from './upstream.js'

/** A provider of chat completions, imitated with the ways in which it differs from the others. */
export interface Provider {
  /** Settings of its upstream, beside name, address and models. */
  readonly upstream?: JsonObject
  /** Its text, and the members of a whole message beside it. */
  readonly message?: JsonObject
  /** The pieces of `message` in a stream. */
  readonly pieces?: readonly JsonObject[]
  readonly toolCall: JsonObject
  /** The pieces of `toolCall` in a stream. */
  readonly toolPieces: readonly JsonObject[]
  /** Members of the body, of each choice, and of each chunk. */
  readonly body?: JsonObject
  readonly choice?: JsonObject
  readonly chunk?: JsonObject
  /** Events before the first chunk, as they are sent. */
  readonly before?: readonly string[]
  readonly usage: JsonObject
  /** The events that tell the usage of a stream, given a chunk without choices; null if it must be asked for. */
  readonly usageEvents?: (chunk: JsonObject) => readonly JsonObject[]
  readonly needsUsageOption?: true
  readonly end?: string
  /** What is recorded and charged. */
  readonly used: { readonly prompt: number; readonly completion: number; readonly cached?: number }
  readonly error: {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body: unknown
    /** What the client and the call say. */
    readonly says: RegExp
    /** The status that clients get. */
    readonly seen: number
  }
  /** Checks a request as the provider gets it; returns what is wrong. */
  readonly refuses?: (arrival: Pick<Arrival, 'url' | 'headers' | 'body'>) => string | undefined
}

export const TEXT = 'Paris is lovely in May.'
const PIECES = ['Paris ', 'is lovely', ' in May.']
export const CITY = { city: 'Paris' }
const ARGUMENTS = JSON.stringify(CITY)

const toolCall = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: ARGUMENTS },
  ...more,
})

/** A call whose arguments come in pieces. */
const inPieces = (id: string): readonly JsonObject[] => [
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ index: 0, id, type: 'function', function: { name: 'weather', arguments: '' } }],
  },
  { tool_calls: [{ index: 0, function: { arguments: ARGUMENTS.slice(0, 6) } }] },
  { tool_calls: [{ index: 0, function: { arguments: ARGUMENTS.slice(6) } }] },
]

const usage = (prompt_tokens: number, completion_tokens: number, more: JsonObject = {}): JsonObject => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  ...more,
})

const SIGNATURE = { extra_content: { google: { thought_signature: 'Cs0D' } } }
const SAFE = { hate: { filtered: false, severity: 'safe' }, violence: { filtered: false, severity: 'safe' } }

export const PROVIDERS: Readonly<Record<string, Provider>> = {
  OpenAI: {
    message: { refusal: null },
    pieces: [{ role: 'assistant', content: '', refusal: null }],
    toolCall: toolCall('call_Zk3'),
    toolPieces: inPieces('call_Zk3'),
    body: { service_tier: 'default', system_fingerprint: 'fp_44709d6fcb' },
    choice: { logprobs: null },
    chunk: { usage: null, obfuscation: 'Xy1Zq' },
    usage: usage(1200, 30, {
      prompt_tokens_details: { cached_tokens: 1024, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: 12,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    }),
    needsUsageOption: true,
    used: { prompt: 1200, completion: 30, cached: 1024 },
    error: {
      status: 429,
      headers: { 'retry-after': '7', 'x-ratelimit-remaining-requests': '0' },
      body: {
        error: {
          message: 'Rate limit reached for gpt-4o in organization org-1 on requests per min (RPM): Limit 3.',
          type: 'requests',
          param: null,
          code: 'rate_limit_exceeded',
        },
      },
      says: /Rate limit reached for gpt-4o/,
      seen: 429,
    },
  },

  Azure: {
    upstream: { headers: { 'api-key': 'azure-key' }, query: { 'api-version': '2024-10-21' } },
    message: { refusal: null },
    pieces: [{ role: 'assistant', content: '', refusal: null }],
    toolCall: toolCall('call_Az1'),
    toolPieces: inPieces('call_Az1'),
    body: {
      prompt_filter_results: [{ prompt_index: 0, content_filter_results: SAFE }],
      system_fingerprint: 'fp_az',
    },
    choice: { content_filter_results: SAFE, logprobs: null },
    before: [
      `data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":${JSON.stringify(SAFE)}}]}`,
    ],
    usage: usage(15, 9, { prompt_tokens_details: { audio_tokens: 0, cached_tokens: 0 } }),
    needsUsageOption: true,
    used: { prompt: 15, completion: 9 },
    error: {
      status: 400,
      body: {
        error: {
          message: "The response was filtered due to the prompt triggering Azure OpenAI's content policy.",
          type: null,
          param: 'prompt',
          code: 'content_filter',
          status: 400,
          innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: SAFE },
        },
      },
      says: /content policy/,
      seen: 400,
    },
    refuses: ({ url, headers }) =>
      !url.includes('api-version=2024-10-21')
        ? 'Resource not found'
        : headers['api-key'] === 'azure-key'
          ? undefined
          : 'Access denied due to invalid subscription key',
  },

  'the compatible endpoint of Anthropic': {
    toolCall: toolCall('toolu_01A'),
    toolPieces: inPieces('toolu_01A'),
    body: { system_fingerprint: null, service_tier: null },
    choice: { logprobs: null },
    usage: usage(25, 11, { completion_tokens_details: null, prompt_tokens_details: null }),
    needsUsageOption: true,
    used: { prompt: 25, completion: 11 },
    error: {
      status: 529,
      body: {
        type: 'error',
        error: { type: 'overloaded_error', message: 'Overloaded' },
        request_id: 'req_1',
      },
      says: /upstream/,
      seen: 502,
    },
  },

  'the compatible endpoint of Gemini': {
    upstream: { stream_options: false },
    toolCall: toolCall('', SIGNATURE),
    toolPieces: [{ role: 'assistant', tool_calls: [toolCall('', { index: 0, ...SIGNATURE })] }],
    // The total has the tokens of thoughts, which no other figure has.
    usage: { prompt_tokens: 10, completion_tokens: 8, total_tokens: 60 },
    usageEvents: () => [],
    chunk: { usage: { prompt_tokens: 10, completion_tokens: 8, total_tokens: 60 } },
    used: { prompt: 10, completion: 50 },
    error: {
      status: 400,
      body: [
        {
          error: {
            code: 400,
            message: 'API key not valid. Please pass a valid API key.',
            status: 'INVALID_ARGUMENT',
          },
        },
      ],
      says: /API key not valid/,
      seen: 400,
    },
    refuses: ({ body }) =>
      'stream_options' in body ? 'Unknown name "stream_options": Cannot find field.' : undefined,
  },

  Groq: {
    toolCall: toolCall('call_gq1'),
    toolPieces: [{ role: 'assistant', content: null }, { tool_calls: [toolCall('call_gq1', { index: 0 })] }],
    body: { system_fingerprint: 'fp_groq', service_tier: 'on_demand' },
    choice: { logprobs: null },
    usage: usage(36, 14, { queue_time: 0.03, prompt_time: 0.001, completion_time: 0.02, total_time: 0.021 }),
    usageEvents: (chunk) => [{ ...chunk, choices: [], x_groq: { id: 'req_01', usage: usage(36, 14) } }],
    used: { prompt: 36, completion: 14 },
    error: {
      status: 413,
      body: {
        error: {
          message:
            'Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 9000.',
          type: 'tokens',
          code: 'rate_limit_exceeded',
        },
      },
      says: /Request too large for model/,
      seen: 413,
    },
  },

  vLLM: {
    upstream: { continuous_usage_stats: true },
    message: { refusal: null, annotations: null, audio: null, function_call: null, reasoning: 'A city.' },
    pieces: [{ role: 'assistant', content: '' }, { reasoning: 'A ' }, { reasoning: 'city.' }],
    toolCall: toolCall('chatcmpl-tool-5'),
    toolPieces: inPieces('chatcmpl-tool-5'),
    body: { prompt_logprobs: null, kv_transfer_params: null, service_tier: null, system_fingerprint: null },
    choice: { logprobs: null, stop_reason: null, token_ids: null },
    chunk: { prompt_token_ids: null },
    usage: usage(18, 21, { prompt_tokens_details: null }),
    needsUsageOption: true,
    used: { prompt: 18, completion: 21 },
    error: {
      status: 400,
      body: {
        object: 'error',
        message: "This model's maximum context length is 4096 tokens.",
        type: 'BadRequestError',
        param: null,
        code: 400,
      },
      says: /maximum context length is 4096/,
      seen: 400,
    },
  },

  Ollama: {
    message: { reasoning: 'Think.' },
    pieces: [{ role: 'assistant', content: '', reasoning: 'Think.' }],
    toolCall: toolCall('call_ol1', { index: 0 }),
    toolPieces: [{ role: 'assistant', content: '', tool_calls: [toolCall('call_ol1', { index: 0 })] }],
    body: { system_fingerprint: 'fp_ollama' },
    usage: usage(26, 7),
    needsUsageOption: true,
    used: { prompt: 26, completion: 7 },
    error: {
      status: 404,
      body: { error: { message: "model 'chat-1' not found", type: 'api_error', param: null, code: null } },
      says: /upstream/,
      seen: 502,
    },
  },

  'LM Studio': {
    message: { reasoning_content: 'Hm.', tool_calls: [] },
    pieces: [{ role: 'assistant', reasoning_content: 'Hm.' }],
    toolCall: toolCall('365174485'),
    toolPieces: inPieces('365174485'),
    body: { stats: {}, system_fingerprint: 'qwen3' },
    choice: { logprobs: null },
    usage: usage(44, 12),
    needsUsageOption: true,
    used: { prompt: 44, completion: 12 },
    error: {
      status: 400,
      body: { error: 'Trying to keep the first 5000 tokens when context the overflows.' },
      says: /Trying to keep the first 5000 tokens/,
      seen: 400,
    },
  },
}

const HEAD = { id: 'chatcmpl-9', created: 1_760_000_000 }

/** Answers as a provider does: with a text, or where the request has tools with a call of `weather`. */
export const answeringAs =
  (provider: Provider): Behaviour =>
  (body, response, request) => {
    const refused = provider.refuses?.({ url: request.url!, headers: request.headers, body })
    if (refused !== undefined) {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: refused } }))
      return
    }
    const model = body['model'] as string
    const callsTool = Array.isArray(body['tools'])
    const finish_reason = callsTool ? 'tool_calls' : 'stop'
    if (body['stream'] !== true) {
      const message = callsTool
        ? { role: 'assistant', content: null, tool_calls: [provider.toolCall] }
        : { role: 'assistant', content: TEXT, ...provider.message }
      const choices = [{ index: 0, message, finish_reason, ...provider.choice }]
      response.writeHead(200, { 'content-type': 'application/json' })
      const whole = { ...HEAD, object: 'chat.completion', model, choices, usage: provider.usage }
      response.end(JSON.stringify({ ...whole, ...provider.body }))
      return
    }
    const chunk = { ...HEAD, object: 'chat.completion.chunk', model, ...provider.chunk }
    const deltas = callsTool
      ? provider.toolPieces
      : [
          ...(provider.pieces ?? [{ role: 'assistant', content: '' }]),
          ...PIECES.map((content) => ({ content })),
        ]
    const chunks: JsonObject[] = deltas.map((delta) => ({
      ...chunk,
      choices: [{ index: 0, delta, finish_reason: null, ...provider.choice }],
    }))
    chunks.push({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason, ...provider.choice }] })
    const wantsUsage = (body['stream_options'] as JsonObject | undefined)?.['include_usage'] === true
    if (wantsUsage || provider.needsUsageOption !== true)
      chunks.push(...(provider.usageEvents?.(chunk) ?? [{ ...chunk, choices: [], usage: provider.usage }]))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of provider.before ?? []) response.write(`${event}\n\n`)
    for (const each of chunks) response.write(`data: ${JSON.stringify(each)}\n\n`)
    response.end(provider.end ?? 'data: [DONE]\n\n')
  }

/** Refuses as a provider does. */
export const refusingAs =
  ({ error: { status, headers, body } }: Provider): Behaviour =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }
