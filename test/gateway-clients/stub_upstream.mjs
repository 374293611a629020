// A scripted upstream with the APIs of OpenAI, Anthropic and Gemini. The name of the model selects the script:
//   stub-text  stub-tool  stub-tools2 (parallel)  stub-agent (calls a tool until the input has its result)  stub-reason  stub-cached
//   stub-cut (length limit)  stub-refuse  stub-json  stub-401 -403 -404 -400 -429 -500 -503 -529  stub-flaky (429 once, then text)
//   stub-mid (error event after the first delta)  stub-drop (connection closed after the first delta)  stub-slow (pauses)
//   stub-unknown-events (events and blocks that no client knows)
// GET /__requests lists the requests so far, GET /__requests?last the last POST, DELETE /__requests forgets them.
import { createServer } from 'node:http'
import * as zlib from 'node:zlib'
const { gunzipSync, zstdDecompressSync, brotliDecompressSync } = zlib

const PORT = Number(process.env.PORT ?? 5500)
const EXPECT_KEY = process.env.EXPECT_KEY // Another credential is a 401.
const REFERENCE = process.env.REFERENCE === '1' // Answers POST /call/read and sends Tallytree-Call-Id as the service does.
let requests = []
const stored = new Map()
const calls = new Map()
const flaky = new Map()
let serial = 0
const now = () => Math.floor(Date.now() / 1000)
const sleep = (ms) => new Promise((r) => setTimeout(r, ms))
const rid = (p) => `${p}_${String(++serial).padStart(24, '0')}`

const LOUD = ['stub-401', 'stub-403', 'stub-404', 'stub-400', 'stub-429', 'stub-500', 'stub-503', 'stub-529']

function openaiError(status) {
  const of = {
    400: ["Invalid type for 'temperature'.", 'invalid_request_error', 'temperature', 'invalid_type'],
    401: [
      'Incorrect API key provided: sk-stub***. You can find your API key at the provider.',
      'invalid_request_error',
      null,
      'invalid_api_key',
    ],
    403: ['Project does not have access to model.', 'invalid_request_error', null, 'model_not_found'],
    404: [
      'The model `stub-404` does not exist or you do not have access to it.',
      'invalid_request_error',
      null,
      'model_not_found',
    ],
    429: [
      'Rate limit reached for stub-429 on tokens per min (TPM): Limit 30000, Used 30000, Requested 120. Please try again in 1s.',
      'tokens',
      null,
      'rate_limit_exceeded',
    ],
    500: ['The server had an error while processing your request.', 'server_error', null, null],
    503: [
      'The engine is currently overloaded, please try again later.',
      'service_unavailable_error',
      null,
      null,
    ],
    529: ['Overloaded', 'service_unavailable_error', null, null],
  }[status]
  return { error: { message: of[0], type: of[1], param: of[2], code: of[3] } }
}
function anthropicError(status, id) {
  const of = {
    400: ['invalid_request_error', 'max_tokens: Field required'],
    401: ['authentication_error', 'invalid x-api-key'],
    403: ['permission_error', 'Your API key does not have permission to use the specified resource.'],
    404: ['not_found_error', 'model: stub-404'],
    429: [
      'rate_limit_error',
      "This request would exceed your organization's rate limit of 30,000 input tokens per minute.",
    ],
    500: ['api_error', 'Internal server error'],
    503: ['api_error', 'Service unavailable'],
    529: ['overloaded_error', 'Overloaded'],
  }[status]
  return { type: 'error', error: { type: of[0], message: of[1] }, request_id: id }
}
function geminiError(status) {
  const name = {
    400: 'INVALID_ARGUMENT',
    401: 'UNAUTHENTICATED',
    403: 'PERMISSION_DENIED',
    404: 'NOT_FOUND',
    429: 'RESOURCE_EXHAUSTED',
    500: 'INTERNAL',
    503: 'UNAVAILABLE',
    529: 'UNAVAILABLE',
  }[status]
  return {
    error: {
      code: status,
      message: `scripted ${name}`,
      status: name,
      ...(status === 429
        ? { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1s' }] }
        : {}),
    },
  }
}

const ARGS = '{"city":"Paris"}'
const TEXT = ['Hello', ', ', 'world', '.']
const toolName = (tools, prefer = /shell|exec|bash|weather|get_|read|list|glob/i) => {
  const names = (tools ?? []).map((t) => t.function?.name ?? t.name).filter(Boolean)
  return names.find((n) => prefer.test(n)) ?? names[0] ?? 'get_weather'
}

// ---------------------------------------------------------------- chat completions
function chatUsage(m) {
  if (m === 'stub-cached')
    return {
      prompt_tokens: 2100,
      completion_tokens: 30,
      total_tokens: 2130,
      prompt_tokens_details: { cached_tokens: 1920, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: 0,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    }
  if (m === 'stub-reason')
    return {
      prompt_tokens: 120,
      completion_tokens: 90,
      total_tokens: 210,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 64 },
    }
  return {
    prompt_tokens: 12,
    completion_tokens: 4,
    total_tokens: 16,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  }
}
async function chat(q, body, res, send) {
  const m = script(body.model)
  const head = {
    id: 'chatcmpl-stub0001',
    created: now(),
    model: named(body.model),
    service_tier: 'default',
    system_fingerprint: 'fp_stub',
  }
  const hasResult = body.messages?.some((x) => x.role === 'tool')
  const calls_ =
    m === 'stub-tools2'
      ? ['call_a', 'call_b']
      : m === 'stub-tool' || (m === 'stub-agent' && !hasResult && body.tools?.length)
        ? ['call_a']
        : []
  const tools = calls_.map((id, index) => ({
    index,
    id,
    type: 'function',
    function: { name: toolName(body.tools), arguments: ARGS },
  }))
  const text =
    m === 'stub-json' || body.response_format?.type === 'json_schema'
      ? '{"city":"Paris","ok":true}'
      : TEXT.join('')
  const finish = tools.length ? 'tool_calls' : m === 'stub-cut' ? 'length' : 'stop'
  if (!body.stream) {
    const message = {
      role: 'assistant',
      content: tools.length ? null : text,
      refusal: null,
      annotations: [],
      ...(m === 'stub-reason' ? { reasoning_content: 'I think.' } : {}),
      ...(tools.length ? { tool_calls: tools.map(({ index, ...t }) => t) } : {}),
    }
    return send(200, {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
      usage: chatUsage(m),
    })
  }
  sse(res)
  const c = (choices, usage) =>
    res.write(
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...(body.stream_options?.include_usage ? { usage: usage ?? null } : {}) })}\n\n`,
    )
  c([
    {
      index: 0,
      delta: { role: 'assistant', content: tools.length ? null : '', refusal: null },
      logprobs: null,
      finish_reason: null,
    },
  ])
  if (m === 'stub-mid') {
    res.write(
      `data: ${JSON.stringify({ error: { message: 'The server had an error processing your request.', type: 'server_error', param: null, code: null } })}\n\n`,
    )
    return res.end()
  }
  for (const t of tools) {
    c([
      {
        index: 0,
        delta: { tool_calls: [{ ...t, function: { name: t.function.name, arguments: '' } }] },
        logprobs: null,
        finish_reason: null,
      },
    ])
    for (const part of [ARGS.slice(0, 8), ARGS.slice(8)])
      c([
        {
          index: 0,
          delta: { tool_calls: [{ index: t.index, function: { arguments: part } }] },
          logprobs: null,
          finish_reason: null,
        },
      ])
  }
  if (!tools.length)
    for (const t of text === TEXT.join('') ? TEXT : [text]) {
      c([{ index: 0, delta: { content: t }, logprobs: null, finish_reason: null }])
      if (m === 'stub-drop') {
        await sleep(50)
        return res.destroy()
      }
      if (m === 'stub-slow') {
        res.write(': keep-alive\n\n')
        await sleep(300)
      }
    }
  c([{ index: 0, delta: {}, logprobs: null, finish_reason: finish }])
  if (body.stream_options?.include_usage) c([], chatUsage(m))
  res.end('data: [DONE]\n\n')
}

// ---------------------------------------------------------------- responses
function respUsage(m) {
  if (m === 'stub-cached')
    return {
      input_tokens: 2100,
      input_tokens_details: { cached_tokens: 1920, cache_write_tokens: 100 },
      output_tokens: 30,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 2130,
    }
  if (m === 'stub-reason')
    return {
      input_tokens: 120,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 90,
      output_tokens_details: { reasoning_tokens: 64 },
      total_tokens: 210,
    }
  return {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 4,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 16,
  }
}
function respShell(body, id, over = {}) {
  return {
    id,
    object: 'response',
    created_at: now(),
    status: 'in_progress',
    background: body.background ?? false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: null,
    model: named(body.model),
    output: [],
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    prompt_cache_retention: null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    safety_identifier: null,
    service_tier: 'default',
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { format: body.text?.format ?? { type: 'text' }, verbosity: 'medium' },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_logprobs: 0,
    top_p: body.top_p ?? 1,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: body.metadata ?? {},
    ...over,
  }
}
async function responses(q, body, res, send) {
  const m = script(body.model)
  const id = rid('resp')
  const items =
    typeof body.input === 'string'
      ? [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: body.input }] }]
      : (body.input ?? [])
  const prev = body.previous_response_id
  if (prev && !stored.has(prev))
    return send(400, {
      error: {
        message: `Previous response with id '${prev}' not found.`,
        type: 'invalid_request_error',
        param: 'previous_response_id',
        code: 'previous_response_not_found',
      },
    })
  const history = prev ? [...stored.get(prev).input, ...stored.get(prev).response.output] : []
  const hasResult = items.some((x) => /_output$/.test(x.type ?? ''))
  const tools = (body.tools ?? []).filter((t) => t.type === 'function' || t.type === 'custom')
  const nested = (body.tools ?? []).flatMap((t) => t.tools ?? [])
  const n =
    m === 'stub-tools2' ? 2 : m === 'stub-tool' || (m === 'stub-agent' && !hasResult && tools.length) ? 1 : 0
  const text =
    m === 'stub-json' || body.text?.format?.type === 'json_schema'
      ? '{"city":"Paris","ok":true}'
      : TEXT.join('')
  const output = []
  if (m === 'stub-reason')
    output.push({
      id: 'rs_stub1',
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'I think.' }],
      ...(body.include?.includes('reasoning.encrypted_content') ? { encrypted_content: 'gAAAAstub' } : {}),
      status: 'completed',
    })
  if (n)
    for (let i = 0; i < n; i++) {
      const name = toolName(tools.length ? tools : nested)
      const t = tools.find((x) => x.name === name)
      if (t?.type === 'custom')
        output.push({
          id: `ctc_stub${i}`,
          type: 'custom_tool_call',
          status: 'completed',
          call_id: `call_${'ab'[i]}`,
          name,
          input: 'echo stub',
        })
      else
        output.push({
          id: `fc_stub${i}`,
          type: 'function_call',
          status: 'completed',
          arguments: agentArgs(t),
          call_id: `call_${'ab'[i]}`,
          name,
        })
    }
  else
    output.push({
      id: 'msg_stub1',
      type: 'message',
      status: m === 'stub-cut' ? 'incomplete' : 'completed',
      role: 'assistant',
      content: [
        m === 'stub-refuse'
          ? { type: 'refusal', refusal: 'I cannot help with that.' }
          : { type: 'output_text', annotations: [], logprobs: [], text },
      ],
    })
  const final = respShell(body, id, {
    status: m === 'stub-cut' ? 'incomplete' : 'completed',
    completed_at: now(),
    incomplete_details: m === 'stub-cut' ? { reason: 'max_output_tokens' } : null,
    output,
    usage: respUsage(m),
  })
  if (body.store !== false) stored.set(id, { input: [...history, ...items], response: final })
  if (body.background && !body.stream) {
    const queued = respShell(body, id, { status: 'queued' })
    return send(200, queued)
  }
  if (!body.stream) return send(200, final)
  sse(res)
  let s = 0
  const e = (type, data) =>
    res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data, sequence_number: s++ })}\n\n`)
  e('response.created', { response: respShell(body, id) })
  e('response.in_progress', { response: respShell(body, id) })
  if (m === 'stub-unknown-events') e('response.future_event', { anything: { nested: [1, 2] } })
  if (m === 'stub-fail') {
    e('response.failed', {
      response: respShell(body, id, {
        status: 'failed',
        error: { code: 'server_error', message: 'scripted failure' },
      }),
    })
    return res.end()
  }
  for (const [i, item] of output.entries()) {
    if (item.type === 'reasoning') {
      e('response.output_item.added', {
        output_index: i,
        item: { ...item, summary: [], status: 'in_progress' },
      })
      e('response.reasoning_summary_part.added', {
        item_id: item.id,
        output_index: i,
        summary_index: 0,
        part: { type: 'summary_text', text: '' },
      })
      for (const t of ['I ', 'think.'])
        e('response.reasoning_summary_text.delta', {
          item_id: item.id,
          output_index: i,
          summary_index: 0,
          delta: t,
          obfuscation: 'xx',
        })
      e('response.reasoning_summary_text.done', {
        item_id: item.id,
        output_index: i,
        summary_index: 0,
        text: 'I think.',
      })
      e('response.reasoning_summary_part.done', {
        item_id: item.id,
        output_index: i,
        summary_index: 0,
        part: { type: 'summary_text', text: 'I think.' },
      })
    } else if (item.type === 'function_call') {
      e('response.output_item.added', {
        output_index: i,
        item: { ...item, arguments: '', status: 'in_progress' },
      })
      for (const t of [item.arguments.slice(0, 8), item.arguments.slice(8)])
        e('response.function_call_arguments.delta', {
          item_id: item.id,
          output_index: i,
          delta: t,
          obfuscation: 'xx',
        })
      e('response.function_call_arguments.done', {
        item_id: item.id,
        output_index: i,
        arguments: item.arguments,
        name: item.name,
      })
    } else if (item.type === 'custom_tool_call') {
      e('response.output_item.added', {
        output_index: i,
        item: { ...item, input: '', status: 'in_progress' },
      })
      e('response.custom_tool_call_input.delta', { item_id: item.id, output_index: i, delta: item.input })
      e('response.custom_tool_call_input.done', { item_id: item.id, output_index: i, input: item.input })
    } else {
      e('response.output_item.added', {
        output_index: i,
        item: { ...item, content: [], status: 'in_progress' },
      })
      const refusal = m === 'stub-refuse'
      e('response.content_part.added', {
        item_id: item.id,
        output_index: i,
        content_index: 0,
        part: refusal
          ? { type: 'refusal', refusal: '' }
          : { type: 'output_text', annotations: [], logprobs: [], text: '' },
      })
      for (const t of refusal ? ['I cannot help with that.'] : text === TEXT.join('') ? TEXT : [text]) {
        e(refusal ? 'response.refusal.delta' : 'response.output_text.delta', {
          item_id: item.id,
          output_index: i,
          content_index: 0,
          delta: t,
          ...(refusal ? {} : { logprobs: [], obfuscation: 'xx' }),
        })
        if (m === 'stub-mid') {
          e('error', { code: 'server_error', message: 'scripted mid-stream error', param: null })
          return res.end()
        }
        if (m === 'stub-drop') {
          await sleep(50)
          return res.destroy()
        }
        if (m === 'stub-slow') {
          res.write(': keep-alive\n\n')
          await sleep(300)
        }
      }
      if (refusal)
        e('response.refusal.done', {
          item_id: item.id,
          output_index: i,
          content_index: 0,
          refusal: 'I cannot help with that.',
        })
      else
        e('response.output_text.done', {
          item_id: item.id,
          output_index: i,
          content_index: 0,
          text,
          logprobs: [],
        })
      e('response.content_part.done', {
        item_id: item.id,
        output_index: i,
        content_index: 0,
        part: item.content[0],
      })
    }
    e('response.output_item.done', { output_index: i, item })
  }
  e(m === 'stub-cut' ? 'response.incomplete' : 'response.completed', { response: final })
  res.end()
}
function agentArgs(tool) {
  const p = tool?.parameters ?? {}
  const of = (name, s) =>
    s?.enum
      ? s.enum[0]
      : s?.type === 'array'
        ? /command|cmd/.test(name)
          ? ['bash', '-lc', 'echo stub']
          : []
        : s?.type === 'number' || s?.type === 'integer'
          ? 1000
          : s?.type === 'boolean'
            ? false
            : s?.type === 'object'
              ? {}
              : /command|cmd/.test(name)
                ? 'echo stub'
                : /city/.test(name)
                  ? 'Paris'
                  : 'stub'
  const required = p.required?.length ? p.required : Object.keys(p.properties ?? {}).slice(0, 1)
  return required.length
    ? JSON.stringify(Object.fromEntries(required.map((k) => [k, of(k, p.properties?.[k])])))
    : ARGS
}

// ---------------------------------------------------------------- messages
function msgUsage(m) {
  const base = { service_tier: 'standard', inference_geo: 'not_available' }
  if (m === 'stub-cached')
    return {
      input_tokens: 80,
      cache_creation_input_tokens: 100,
      cache_read_input_tokens: 1920,
      cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
      output_tokens: 30,
      ...base,
    }
  if (m === 'stub-reason')
    return {
      input_tokens: 120,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 90,
      output_tokens_details: { thinking_tokens: 64 },
      ...base,
    }
  return {
    input_tokens: 12,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: 4,
    ...base,
  }
}
async function messages(q, body, res, send) {
  const m = script(body.model)
  if (body.max_tokens === undefined) return send(400, anthropicError(400, rid('req')))
  const hasResult = body.messages?.some(
    (x) => Array.isArray(x.content) && x.content.some((b) => b.type === 'tool_result'),
  )
  const n =
    m === 'stub-tools2'
      ? 2
      : m === 'stub-tool' || (m === 'stub-agent' && !hasResult && body.tools?.length)
        ? 1
        : 0
  const content = []
  if (m === 'stub-reason' || (body.thinking && body.thinking.type !== 'disabled' && m === 'stub-think'))
    content.push({ type: 'thinking', thinking: 'I think.', signature: 'sigStub==' })
  const tname = toolName(body.tools)
  const tdef = body.tools?.find((t) => t.name === tname)
  if (n) {
    content.push({ type: 'text', text: 'Let me look.' })
    for (let i = 0; i < n; i++)
      content.push({
        type: 'tool_use',
        id: `toolu_${'ab'[i]}`,
        name: tname,
        input: JSON.parse(agentArgs(tdef && { parameters: tdef.input_schema })),
      })
  } else
    content.push({
      type: 'text',
      text: m === 'stub-json' || body.output_config?.format ? '{"city":"Paris","ok":true}' : TEXT.join(''),
    })
  if (m === 'stub-unknown-events') content.unshift({ type: 'future_block', data: 'x' })
  const stop = n ? 'tool_use' : m === 'stub-cut' ? 'max_tokens' : m === 'stub-refuse' ? 'refusal' : 'end_turn'
  const usage = msgUsage(m)
  const msg = {
    id: 'msg_stub0001',
    type: 'message',
    role: 'assistant',
    model: named(body.model),
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage,
  }
  if (!body.stream) return send(200, msg)
  sse(res)
  const e = (type, data) => res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  e('message_start', {
    message: { ...msg, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
  })
  e('ping', {})
  if (m === 'stub-unknown-events') e('future_event', { anything: 1 })
  if (m === 'stub-slow') {
    res.write(': keep-alive\n\n')
    await sleep(800)
    e('ping', {})
  }
  for (const [index, b] of content.entries()) {
    if (b.type === 'thinking') {
      e('content_block_start', { index, content_block: { type: 'thinking', thinking: '', signature: '' } })
      for (const t of ['I ', 'think.'])
        e('content_block_delta', { index, delta: { type: 'thinking_delta', thinking: t } })
      e('content_block_delta', { index, delta: { type: 'signature_delta', signature: 'sigStub==' } })
    } else if (b.type === 'text') {
      e('content_block_start', { index, content_block: { type: 'text', text: '' } })
      for (const t of b.text === TEXT.join('') ? TEXT : [b.text]) {
        e('content_block_delta', { index, delta: { type: 'text_delta', text: t } })
        if (m === 'stub-mid') {
          e('error', {
            error: { type: 'overloaded_error', message: 'Overloaded' },
            request_id: 'req_stub_mid',
          })
          return res.end()
        }
        if (m === 'stub-drop') {
          await sleep(50)
          return res.destroy()
        }
      }
    } else if (b.type === 'tool_use') {
      e('content_block_start', { index, content_block: { ...b, input: {} } })
      const a = JSON.stringify(b.input)
      for (const t of ['', a.slice(0, 8), a.slice(8)])
        e('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: t } })
    } else e('content_block_start', { index, content_block: b })
    e('content_block_stop', { index })
  }
  e('message_delta', {
    delta: { stop_reason: stop, stop_sequence: null },
    usage: {
      input_tokens: usage.input_tokens,
      cache_creation_input_tokens: usage.cache_creation_input_tokens,
      cache_read_input_tokens: usage.cache_read_input_tokens,
      output_tokens: usage.output_tokens,
      ...(usage.output_tokens_details ? { output_tokens_details: usage.output_tokens_details } : {}),
    },
  })
  e('message_stop', {})
  res.end()
}

// ---------------------------------------------------------------- gemini
async function gemini(model, method, body, res, send, sseMode) {
  const m = script(model)
  const hasResult = body.contents?.some?.((c) => c.parts?.some((p) => p.functionResponse))
  const decl = body.tools?.flatMap((t) => t.functionDeclarations ?? []) ?? []
  const call = m === 'stub-tool' || (m === 'stub-agent' && decl.length && !hasResult)
  const usage =
    m === 'stub-cached'
      ? {
          promptTokenCount: 2100,
          cachedContentTokenCount: 1920,
          candidatesTokenCount: 30,
          totalTokenCount: 2130,
        }
      : m === 'stub-reason'
        ? { promptTokenCount: 120, candidatesTokenCount: 26, thoughtsTokenCount: 64, totalTokenCount: 210 }
        : { promptTokenCount: 12, candidatesTokenCount: 4, totalTokenCount: 16 }
  if (method === 'countTokens') return send(200, { totalTokens: 12 })
  if (method === 'embedContent') return send(200, { embedding: { values: vector(3) } })
  if (method === 'batchEmbedContents')
    return send(200, { embeddings: (body.requests ?? [1]).map(() => ({ values: vector(3) })) })
  const parts = call
    ? [
        {
          functionCall: { name: decl[0]?.name ?? 'get_weather', args: JSON.parse(ARGS) },
          thoughtSignature: 'c2ln',
        },
      ]
    : [...(m === 'stub-reason' ? [{ text: 'I think.', thought: true }] : []), { text: TEXT.join('') }]
  const wrap = (parts, finish) => ({
    candidates: [
      {
        content: { parts, role: 'model' },
        index: 0,
        ...(finish ? { finishReason: m === 'stub-cut' ? 'MAX_TOKENS' : 'STOP' } : {}),
      },
    ],
    usageMetadata: finish
      ? usage
      : { promptTokenCount: usage.promptTokenCount, totalTokenCount: usage.promptTokenCount },
    modelVersion: model,
    responseId: 'stubresp1',
  })
  if (method === 'generateContent') return send(200, wrap(parts, true))
  if (!sseMode) return send(200, [wrap(parts.slice(0, 1), false), wrap(parts, true)])
  sse(res)
  if (call || parts.length > 1) res.write(`data: ${JSON.stringify(wrap(parts, false))}\r\n\r\n`)
  else for (const t of TEXT) res.write(`data: ${JSON.stringify(wrap([{ text: t }], false))}\r\n\r\n`)
  res.write(`data: ${JSON.stringify(wrap([{ text: '' }], true))}\r\n\r\n`)
  res.end()
}

// ---------------------------------------------------------------- embeddings
const vector = (n, seed = 1) => {
  const v = Array.from({ length: n }, (_, i) => Math.fround(Math.sin(seed + i)))
  const norm = Math.hypot(...v)
  return v.map((x) => Math.fround(x / norm))
}
const b64 = (v) => Buffer.from(new Float32Array(v).buffer).toString('base64')
function embeddings(body, send) {
  const one = typeof body.input === 'string' || typeof body.input?.[0] === 'number'
  const list = one ? [body.input] : (body.input ?? [])
  if (!list.length || list.some((x) => x === '' || x?.length === 0))
    return send(400, {
      error: {
        message: "Invalid 'input': input cannot be an empty string.",
        type: 'invalid_request_error',
        param: 'input',
        code: null,
      },
    })
  if (list.length > 2048)
    return send(400, {
      error: {
        message: "'$.input' is invalid. Please check the API reference.",
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    })
  const tokens = list.reduce((a, x) => a + (typeof x === 'string' ? Math.ceil(x.length / 4) : x.length), 0)
  const data = list.map((x, index) => {
    const v = vector(body.dimensions ?? 8, index + 1)
    return { object: 'embedding', index, embedding: body.encoding_format === 'base64' ? b64(v) : v }
  })
  send(200, {
    object: 'list',
    data,
    model: body.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  })
}

// ---------------------------------------------------------------- plumbing
function sse(res) {
  res.writeHead(200, {
    ...res.extra,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  })
  res.flushHeaders()
}
const named = (model) => (REFERENCE ? model : `${model}-2026-01-01`)
const script = (model) => {
  const t = String(model ?? '')
    .split('/')
    .pop()
    .replace(/-\d{8}$/, '')
  return t.startsWith('stub-') ? t : 'stub-text'
}
function fail(kind, m, send, res) {
  const status = Number(m.slice(5))
  if (status === 429 || status === 503 || status === 529)
    res.extra = { ...res.extra, 'retry-after': '1', ...(status === 429 ? { 'retry-after-ms': '300' } : {}) }
  send(
    status,
    kind === 'anthropic'
      ? anthropicError(status, res.extra['request-id'])
      : kind === 'gemini'
        ? geminiError(status)
        : openaiError(status),
  )
}
async function read(req) {
  const chunks = []
  for await (const c of req) chunks.push(c)
  let raw = Buffer.concat(chunks)
  const enc = req.headers['content-encoding']
  if (enc === 'gzip') raw = gunzipSync(raw)
  else if (enc === 'zstd' && zstdDecompressSync) raw = zstdDecompressSync(raw)
  else if (enc === 'br') raw = brotliDecompressSync(raw)
  return raw
}
const OAI_LIMITS = {
  'x-ratelimit-limit-requests': '500',
  'x-ratelimit-limit-tokens': '30000',
  'x-ratelimit-remaining-requests': '499',
  'x-ratelimit-remaining-tokens': '29880',
  'x-ratelimit-reset-requests': '120ms',
  'x-ratelimit-reset-tokens': '240ms',
  'openai-organization': 'org-stub',
  'openai-version': '2020-10-01',
  'openai-processing-ms': '12',
}
const ANT_LIMITS = {
  'anthropic-ratelimit-requests-limit': '50',
  'anthropic-ratelimit-requests-remaining': '49',
  'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:00Z',
  'anthropic-ratelimit-input-tokens-limit': '30000',
  'anthropic-ratelimit-input-tokens-remaining': '29000',
  'anthropic-ratelimit-input-tokens-reset': '2026-01-01T00:00:00Z',
  'anthropic-ratelimit-output-tokens-limit': '8000',
  'anthropic-ratelimit-output-tokens-remaining': '7900',
  'anthropic-ratelimit-output-tokens-reset': '2026-01-01T00:00:00Z',
  'anthropic-organization-id': 'org-stub',
}
const MODELS = ['stub-text', 'stub-tool', 'stub-agent', 'stub-reason', 'stub-cached', 'stub-embed']

export const server = createServer(async (req, res) => {
  const url = new URL(req.url, 'http://stub')
  const p = url.pathname.replace(/\/+/g, '/')
  if (p === '/__requests') {
    if (req.method === 'DELETE') requests = []
    res.setHeader('content-type', 'application/json')
    return res.end(
      JSON.stringify(
        url.searchParams.has('last') ? requests.filter((r) => r.method === 'POST').slice(-1) : requests,
      ),
    )
  }
  const raw = await read(req)
  let body
  const type = req.headers['content-type'] ?? ''
  try {
    body = raw.length ? JSON.parse(raw.toString()) : {}
  } catch {
    body = {
      _raw: type.startsWith('multipart') ? `multipart ${raw.length} bytes` : raw.toString().slice(0, 200),
    }
  }
  const seen = { at: new Date().toISOString(), method: req.method, path: req.url, headers: req.headers, body }
  requests.push(seen)
  const anthropic = /^\/(anthropic\/)?v1\/messages/.test(p) || 'anthropic-version' in req.headers
  const google = /^\/v1(beta|alpha)\d*\//.test(p) && !p.includes('/openai/')
  res.extra = anthropic
    ? { 'request-id': rid('req'), ...ANT_LIMITS }
    : google
      ? {}
      : { 'x-request-id': rid('req'), ...OAI_LIMITS }
  const send = (status, o) => {
    res.writeHead(status, { ...res.extra, 'content-type': 'application/json' })
    res.end(JSON.stringify(o))
  }
  const kind = anthropic ? 'anthropic' : google ? 'gemini' : 'openai'
  const key =
    req.headers['x-api-key'] ??
    req.headers['x-goog-api-key'] ??
    url.searchParams.get('key') ??
    (/^Basic /.test(req.headers.authorization ?? '')
      ? Buffer.from(req.headers.authorization.slice(6), 'base64').toString().split(':')[1]
      : (req.headers.authorization ?? '').replace(/^Bearer /, ''))
  if (EXPECT_KEY && key !== EXPECT_KEY) return fail(kind, 'stub-401', send, res)
  if (REFERENCE && p === '/call/read') {
    const c = calls.get(body.id)
    return c ? send(200, { call: c }) : send(404, { detail: 'no such call' })
  }
  if (REFERENCE && req.method === 'POST' && body.model) {
    const id = `call-${++serial}`
    res.extra['tallytree-call-id'] = id
    calls.set(id, reference(p, body, id))
  }
  if (REFERENCE && req.method === 'POST' && body.model && !/(^|\/)stub-/.test(body.model)) {
    res.extra['x-should-retry'] = 'false'
    return fail(kind, 'stub-404', send, res)
  }
  const m = script(body.model ?? p.match(/models\/([^:]+):/)?.[1])
  if (req.method === 'POST' && LOUD.includes(m)) return fail(kind, m, send, res)
  if (m === 'stub-flaky' && req.method === 'POST') {
    const k = `${p} ${req.headers['x-test'] ?? ''}`
    const c = (flaky.get(k) ?? 0) + 1
    flaky.set(k, c)
    if (c % 2) return fail(kind, 'stub-429', send, res)
  }
  try {
    if (google) {
      const g = p.match(/models\/([^:]+):(\w+)/)
      if (g) return await gemini(g[1], g[2], body, res, send, url.searchParams.get('alt') === 'sse')
      if (/\/models$/.test(p))
        return send(200, {
          models: MODELS.map((id) => ({
            name: `models/${id}`,
            version: '1',
            displayName: id,
            inputTokenLimit: 1000,
            outputTokenLimit: 100,
            supportedGenerationMethods: ['generateContent'],
          })),
        })
    }
    const path = p
      .replace(/^\/anthropic/, '')
      .replace(/^\/v1beta\/openai/, '/v1')
      .replace(/^\/(?!v1\/)(chat|responses|embeddings|models|messages)/, '/v1/$1')
    if (req.method === 'HEAD') {
      res.writeHead(200)
      return res.end()
    }
    if (path === '/v1/chat/completions') return await chat(path, body, res, send)
    if (path === '/v1/messages/count_tokens') return send(200, { input_tokens: 12 })
    if (path === '/v1/messages/batches' && req.method === 'POST') {
      const id = rid('msgbatch')
      stored.set(id, body.requests)
      return send(200, batch(id, body.requests))
    }
    const mb = path.match(/^\/v1\/messages\/batches\/([^/]+)(\/results|\/cancel)?$/)
    if (mb) {
      if (mb[2] === '/results') {
        res.writeHead(200, { 'content-type': 'application/x-jsonl' })
        return res.end(
          (stored.get(mb[1]) ?? [])
            .map((r) =>
              JSON.stringify({
                custom_id: r.custom_id,
                result: {
                  type: 'succeeded',
                  message: {
                    id: 'msg_b',
                    type: 'message',
                    role: 'assistant',
                    model: r.params.model,
                    content: [{ type: 'text', text: 'Hello, world.' }],
                    stop_reason: 'end_turn',
                    stop_sequence: null,
                    usage: msgUsage('stub-text'),
                  },
                },
              }),
            )
            .join('\n') + '\n',
        )
      }
      return send(200, batch(mb[1], stored.get(mb[1]) ?? [], 'ended'))
    }
    if (path === '/v1/messages') return await messages(path, body, res, send)
    if (path === '/v1/responses') return await responses(path, body, res, send)
    if (path === '/v1/responses/input_tokens')
      return send(200, { object: 'response.input_tokens', input_tokens: 12 })
    if (path === '/v1/responses/compact')
      return send(200, {
        id: rid('resp'),
        object: 'response.compaction',
        created_at: now(),
        output: [
          {
            id: 'msg_1',
            type: 'message',
            role: 'user',
            status: 'completed',
            content: [{ type: 'input_text', text: 'Hello?' }],
          },
          { id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAAAcompact' },
        ],
        usage: respUsage('stub-text'),
      })
    const r = path.match(/^\/v1\/responses\/([^/]+)(\/\w+)?$/)
    if (r) {
      const got = stored.get(r[1])
      if (!got)
        return send(404, {
          error: {
            message: `Response with id '${r[1]}' not found.`,
            type: 'invalid_request_error',
            param: null,
            code: null,
          },
        })
      if (req.method === 'DELETE') {
        stored.delete(r[1])
        return send(200, { id: r[1], object: 'response', deleted: true })
      }
      if (r[2] === '/cancel') return send(200, { ...got.response, status: 'cancelled' })
      if (r[2] === '/input_items') {
        const data = got.input.map((x, i) => ({ id: `msg_in${i}`, status: 'completed', ...x })).reverse()
        return send(200, {
          object: 'list',
          data,
          first_id: data[0]?.id ?? null,
          last_id: data.at(-1)?.id ?? null,
          has_more: false,
        })
      }
      return send(200, got.response)
    }
    if (path === '/v1/conversations')
      return send(200, { id: rid('conv'), object: 'conversation', created_at: now(), metadata: {} })
    if (/^\/v1\/conversations\/[^/]+\/items$/.test(path))
      return send(200, { object: 'list', data: [], first_id: null, last_id: null, has_more: false })
    if (/^\/v1\/conversations\/[^/]+$/.test(path))
      return send(200, { id: path.split('/')[3], object: 'conversation', created_at: now(), metadata: {} })
    if (path === '/v1/embeddings') return embeddings(body, send)
    if (path === '/v1/completions') {
      if (!body.stream)
        return send(200, {
          id: 'cmpl-stub1',
          object: 'text_completion',
          created: now(),
          model: body.model,
          choices: (Array.isArray(body.prompt) ? body.prompt : [body.prompt]).map((_, index) => ({
            index,
            text: 'Hello, world.',
            logprobs: null,
            finish_reason: 'stop',
          })),
          usage: { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 },
        })
      sse(res)
      for (const t of TEXT)
        res.write(
          `data: ${JSON.stringify({ id: 'cmpl-stub1', object: 'text_completion', created: now(), model: body.model, choices: [{ index: 0, text: t, logprobs: null, finish_reason: null }] })}\n\n`,
        )
      res.write(
        `data: ${JSON.stringify({ id: 'cmpl-stub1', object: 'text_completion', created: now(), model: body.model, choices: [{ index: 0, text: '', logprobs: null, finish_reason: 'stop' }] })}\n\n`,
      )
      if (body.stream_options?.include_usage)
        res.write(
          `data: ${JSON.stringify({ id: 'cmpl-stub1', object: 'text_completion', created: now(), model: body.model, choices: [], usage: { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 } })}\n\n`,
        )
      return res.end('data: [DONE]\n\n')
    }
    if (path === '/v1/moderations')
      return send(200, {
        id: 'modr-stub1',
        model: body.model ?? 'stub-moderation',
        results: (Array.isArray(body.input) ? body.input : [body.input]).map(() => ({
          flagged: false,
          categories: { violence: false },
          category_scores: { violence: 0.01 },
          category_applied_input_types: { violence: ['text'] },
        })),
      })
    if (path === '/v1/rerank' || path === '/v2/rerank')
      return send(200, {
        id: 'rerank-1',
        results: (body.documents ?? []).map((d, index) => ({ index, relevance_score: 1 / (index + 1) })),
        meta: { billed_units: { search_units: 1 } },
      })
    if (path === '/v1/images/generations')
      return send(200, {
        created: now(),
        data: [{ b64_json: 'aGk=' }],
        usage: {
          input_tokens: 12,
          output_tokens: 272,
          total_tokens: 284,
          input_tokens_details: { text_tokens: 12, image_tokens: 0 },
        },
      })
    if (path === '/v1/audio/transcriptions')
      return send(200, {
        text: 'hello',
        usage: {
          type: 'tokens',
          input_tokens: 14,
          input_token_details: { text_tokens: 0, audio_tokens: 14 },
          output_tokens: 2,
          total_tokens: 16,
        },
      })
    if (path === '/v1/audio/speech') {
      res.writeHead(200, { ...res.extra, 'content-type': 'audio/mpeg' })
      return res.end(Buffer.from('ID3stub'))
    }
    if (path === '/v1/models')
      return send(
        200,
        anthropic
          ? {
              data: MODELS.map((id) => ({
                type: 'model',
                id,
                display_name: id,
                created_at: '2026-01-01T00:00:00Z',
              })),
              has_more: false,
              first_id: MODELS[0],
              last_id: MODELS.at(-1),
            }
          : {
              object: 'list',
              data: MODELS.map((id) => ({ id, object: 'model', created: 1760000000, owned_by: 'stub' })),
            },
      )
    if (path.startsWith('/v1/models/')) {
      const id = decodeURIComponent(path.slice(11))
      return send(
        200,
        anthropic
          ? { type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' }
          : { id, object: 'model', created: 1760000000, owned_by: 'stub' },
      )
    }
    send(
      404,
      kind === 'anthropic'
        ? anthropicError(404, res.extra['request-id'])
        : {
            error: {
              message: `Invalid URL (${req.method} ${p})`,
              type: 'invalid_request_error',
              param: null,
              code: null,
            },
          },
    )
  } catch (err) {
    console.error(err)
    if (!res.headersSent) send(500, openaiError(500))
    else res.destroy()
  }
})
function batch(id, reqs, status = 'in_progress') {
  return {
    id,
    type: 'message_batch',
    processing_status: status,
    request_counts: {
      processing: status === 'ended' ? 0 : reqs.length,
      succeeded: status === 'ended' ? reqs.length : 0,
      errored: 0,
      canceled: 0,
      expired: 0,
    },
    ended_at: status === 'ended' ? '2026-01-01T00:10:00Z' : null,
    created_at: '2026-01-01T00:00:00Z',
    expires_at: '2026-01-02T00:00:00Z',
    archived_at: null,
    cancel_initiated_at: null,
    results_url:
      status === 'ended'
        ? `http://127.0.0.1:${server.address().port}/v1/messages/batches/${id}/results`
        : null,
  }
}

// What the service records, for runs without it.
function reference(p, body, id) {
  const m = script(body.model)
  const op = p.endsWith('/messages')
    ? 'anthropic.messages.create'
    : p.endsWith('/responses')
      ? 'openai.responses.create'
      : p.endsWith('/embeddings')
        ? 'openai.embeddings.create'
        : p.endsWith('/completions') && !p.includes('chat')
          ? 'openai.completions.create'
          : 'openai.chat.completions.create'
  let u
  if (op.startsWith('anthropic')) {
    const x = msgUsage(m)
    u = {
      prompt_tokens: x.input_tokens + x.cache_creation_input_tokens + x.cache_read_input_tokens,
      completion_tokens: x.output_tokens,
      cache_read_input_tokens: x.cache_read_input_tokens,
      cache_creation_input_tokens: x.cache_creation_input_tokens,
    }
  } else if (op.includes('responses')) {
    const x = respUsage(m)
    u = {
      prompt_tokens: x.input_tokens,
      completion_tokens: x.output_tokens,
      cache_read_input_tokens: x.input_tokens_details.cached_tokens,
      cache_creation_input_tokens: x.input_tokens_details.cache_write_tokens,
    }
  } else if (op.includes('embed')) {
    const list =
      typeof body.input === 'string' || typeof body.input?.[0] === 'number'
        ? [body.input]
        : (body.input ?? [])
    u = {
      prompt_tokens: list.reduce(
        (a, x) => a + (typeof x === 'string' ? Math.ceil(x.length / 4) : x.length),
        0,
      ),
      completion_tokens: 0,
    }
  } else {
    const x = chatUsage(m)
    u = {
      prompt_tokens: x.prompt_tokens,
      completion_tokens: x.completion_tokens,
      cache_read_input_tokens: x.prompt_tokens_details?.cached_tokens,
    }
  }
  u.total_tokens = u.prompt_tokens + u.completion_tokens
  return { id, op_name: op, inputs: body, summary: { usage: { [body.model]: u } } }
}
server.keepAliveTimeout = 65000
server.listen(PORT, '127.0.0.1', () => console.log(`stub on http://127.0.0.1:${server.address().port}`))
