import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Provider } from './provider.js'

export const CITY = { city: 'Paris' }
const ARGUMENTS = JSON.stringify(CITY)

const toolCall = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: ARGUMENTS },
  ...more,
})

/** A call whose arguments come in pieces. */
const inPieces = (id: string, more: JsonObject = {}): readonly JsonObject[] => [
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ index: 0, id, type: 'function', function: { name: 'weather', arguments: '' } }],
  },
  { tool_calls: [{ index: 0, function: { ...more, arguments: ARGUMENTS.slice(0, 6) } }] },
  { tool_calls: [{ index: 0, function: { ...more, arguments: ARGUMENTS.slice(6) } }] },
]

const usage = (prompt_tokens: number, completion_tokens: number, more: JsonObject = {}): JsonObject => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  ...more,
})

const SIGNATURE = { extra_content: { google: { thought_signature: 'Cs0D' } } }
const SAFE = { hate: { filtered: false, severity: 'safe' }, violence: { filtered: false, severity: 'safe' } }

/** The value of the secret that settings name. */
export const PROVIDER_KEY = 'azure-key'

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
    streamError: {
      body: {
        error: { message: 'The server had an error while processing your request.', type: 'server_error' },
      },
      says: /The server had an error while processing/,
    },
  },

  Azure: {
    upstream: { headers: { 'api-key': '$PROVIDER_KEY' }, query: { 'api-version': '2024-10-21' } },
    message: { refusal: null },
    pieces: [{ role: 'assistant', content: '', refusal: null }],
    toolCall: toolCall('call_Az1'),
    toolPieces: inPieces('call_Az1'),
    body: {
      prompt_filter_results: [{ prompt_index: 0, content_filter_results: SAFE }],
      system_fingerprint: 'fp_az',
    },
    choice: { content_filter_results: SAFE, logprobs: null },
    firstEvents: [
      `data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":${JSON.stringify(SAFE)}}]}`,
    ],
    // The asynchronous filter sends a choice without a delta.
    late: () => {
      const content_filter_offsets = { check_offset: 44, start_offset: 44, end_offset: 67 }
      const choice = { index: 0, finish_reason: null, content_filter_results: SAFE, content_filter_offsets }
      return [{ id: '', object: '', created: 0, model: '', choices: [choice] }]
    },
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
        : headers['api-key'] === PROVIDER_KEY
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
      says: /Overloaded/,
      seen: 529,
    },
    streamError: {
      event: 'error',
      body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      says: /Overloaded/,
    },
  },

  'the compatible endpoint of Gemini': {
    upstream: { stream_options: false },
    toolCall: toolCall('', SIGNATURE),
    toolPieces: [{ role: 'assistant', tool_calls: [toolCall('', { index: 0, ...SIGNATURE })] }],
    toolFinish: 'stop',
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
    hidesUsage: true,
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
    streamError: {
      event: 'error',
      body: {
        error: {
          message:
            "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
          type: 'invalid_request_error',
          code: 'tool_use_failed',
          failed_generation: 'getCarsList',
          status_code: 400,
        },
      },
      says: /Failed to call a function/,
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
    runningUsage: usage(18, 2),
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
    streamError: {
      body: {
        error: {
          object: 'error',
          message: 'EngineCore encountered an issue.',
          type: 'BadRequestError',
          param: null,
          code: 400,
        },
      },
      says: /EngineCore encountered an issue/,
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
      says: /model 'chat-1' not found/,
      seen: 502,
    },
  },

  'LM Studio': {
    message: { reasoning_content: 'Hm.', tool_calls: [] },
    pieces: [{ role: 'assistant', reasoning_content: 'Hm.' }],
    toolCall: toolCall('365174485'),
    // Pieces after the first have an empty name.
    toolPieces: inPieces('365174485', { name: '' }),
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
    streamError: {
      event: 'error',
      body: { error: { message: 'Compute error.' }, message: 'Compute error.' },
      says: /Compute error/,
    },
  },
}
