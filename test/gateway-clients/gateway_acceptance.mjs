// Checks the endpoints of a gateway with the unmodified npm packages openai, @anthropic-ai/sdk, ai with @ai-sdk/openai and @ai-sdk/anthropic, and
// @openai/agents. Packages that are not installed are left out; MODULES is the folder with their node_modules, if not one above this file.
// The environment is that of test/python/gateway_acceptance.py; STUB_PORT is 5591 unless set. Prints `N passed, N failed`.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const HERE = dirname(fileURLToPath(import.meta.url))
const PORT = process.env.STUB_PORT ?? '5591'
const STUB = `http://127.0.0.1:${PORT}`
const SELF = !process.env.GATEWAY_URL
const URL_ = (process.env.GATEWAY_URL ?? STUB).replace(/\/$/, '')
const KEY = process.env.GATEWAY_KEY ?? (SELF ? 'upstream-key' : '')
const PREFIX = process.env.MODEL_PREFIX ?? ''
const m = (name) => PREFIX + name
const require_ = createRequire(join(process.env.MODULES ?? HERE, 'x.js'))
const load = async (name) => {
  let at
  try {
    at = require_.resolve(name)
  } catch {
    return null
  }
  return import(pathToFileURL(at))
}
const checks = []
const check = (name, f) => checks.push([name, f])
const eq = (a, b, what = '') => {
  const [x, y] = [JSON.stringify(a), JSON.stringify(b)]
  if (x !== y) throw new Error(`${what} expected ${y}, got ${x?.slice(0, 200)}`)
}
const ok = (x, what) => {
  if (!x) throw new Error(what)
}
const raises = async (f, status) => {
  let r
  try {
    r = await f()
  } catch (e) {
    const s = e.status ?? e.statusCode ?? e.lastError?.statusCode
    if (status && ![].concat(status).includes(s))
      throw new Error(`status ${s}: ${String(e.message).slice(0, 160)}`, { cause: e })
    return e
  }
  throw new Error(`no error; got ${JSON.stringify(r)?.slice(0, 120)}`)
}
const stubSaw = async () => (await fetch(`${STUB}/__requests?last`)).json()
const HI = [{ role: 'user', content: 'hi' }]

const openai = await load('openai'),
  anthropic = await load('@anthropic-ai/sdk'),
  ai = await load('ai'),
  aiOpenai = await load('@ai-sdk/openai'),
  aiAnthropic = await load('@ai-sdk/anthropic'),
  zod = await load('zod')
const agents = process.env.AGENTS === '0' ? null : await load('@openai/agents'),
  genai = process.env.GEMINI === '1' ? await load('@google/genai') : null

if (openai) {
  const o = new openai.OpenAI({
      baseURL: `${URL_}/v1`,
      apiKey: KEY,
      timeout: 30000,
      project: process.env.GATEWAY_PROJECT,
    }),
    o0 = o.withOptions({ maxRetries: 0 })
  const TOOL = {
    type: 'function',
    name: 'get_weather',
    strict: true,
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  }
  check('openai: responses.create', async () => {
    const r = await o.responses.create({ model: m('stub-text'), input: 'hi' })
    eq([r.output_text, r.usage.total_tokens], ['Hello, world.', 16])
  })
  check('openai: responses.stream helper gets no event it does not know', async () => {
    const s = o.responses.stream({ model: m('stub-reason'), input: 'hi' })
    for await (const _ of s);
    const r = await s.finalResponse()
    eq(
      [r.output.map((x) => x.type), r.usage.output_tokens_details.reasoning_tokens],
      [['reasoning', 'message'], 64],
    )
  })
  check('openai: a slow stream with comments and pauses', async () => {
    const t = []
    for await (const e of await o.responses.create({ model: m('stub-slow'), input: 'hi', stream: true }))
      t.push(Date.now())
    ok(t.at(-1) - t[0] > 800, 'buffered')
  })
  check('openai: tools in a stream', async () => {
    const r = await o.responses
      .stream({ model: m('stub-tools2'), input: 'hi', tools: [TOOL] })
      .finalResponse()
    eq(
      r.output.map((x) => [x.call_id, x.arguments]),
      [
        ['call_a', '{"city":"Paris"}'],
        ['call_b', '{"city":"Paris"}'],
      ],
    )
  })
  check('openai: a second turn by history', async () => {
    const r = await o.responses.create({ model: m('stub-agent'), input: HI, tools: [TOOL], store: false })
    const r2 = await o.responses.create({
      model: m('stub-agent'),
      tools: [TOOL],
      store: false,
      input: [
        ...HI,
        ...r.output,
        { type: 'function_call_output', call_id: r.output[0].call_id, output: 'sunny' },
      ],
    })
    eq(r2.output_text, 'Hello, world.')
  })
  for (const bad of ['stub-mid', 'stub-drop'])
    check(`openai: ${bad.slice(5)} within a stream is an error`, async () => {
      const ev = []
      try {
        for await (const e of await o0.responses.create({ model: m(bad), input: 'hi', stream: true }))
          ev.push(e.type)
      } catch {
        return
      }
      ok(['error', 'response.failed'].includes(ev.at(-1)), `last event ${ev.at(-1)}`)
    })
  check('openai: incomplete ends the stream', async () => {
    const ev = []
    for await (const e of await o.responses.create({ model: m('stub-cut'), input: 'hi', stream: true }))
      ev.push(e.type)
    eq(ev.at(-1), 'response.incomplete')
  })
  check('openai: embeddings by default, by float, of tokens', async () => {
    const a = (await o.embeddings.create({ model: m('stub-embed'), input: ['a', 'b'] })).data[1].embedding,
      b = (await o.embeddings.create({ model: m('stub-embed'), input: ['a', 'b'], encoding_format: 'float' }))
        .data[1].embedding
    ok(
      a.length === 8 && a.every((x, i) => Math.abs(x - b[i]) < 1e-6),
      `${a.slice(0, 2)} and ${b.slice(0, 2)}`,
    )
    eq((await o.embeddings.create({ model: m('stub-embed'), input: [[1, 2], [3]] })).usage.prompt_tokens, 3)
  })
  check('openai: completions stream', async () => {
    let s = ''
    for await (const c of await o.completions.create({ model: m('stub-text'), prompt: 'a', stream: true }))
      s += c.choices[0]?.text ?? ''
    eq(s, 'Hello, world.')
  })
  check('openai: 429 and its headers, 404, 401', async () => {
    const e = await raises(() => o0.responses.create({ model: m('stub-429'), input: 'hi' }), 429)
    ok(e.headers?.get?.('retry-after') ?? e.headers?.['retry-after'], 'no Retry-After')
    await raises(() => o0.responses.create({ model: PREFIX + 'absent-model', input: 'hi' }), 404)
    await raises(
      () =>
        new openai.OpenAI({ baseURL: `${URL_}/v1`, apiKey: 'wrong', maxRetries: 0 }).responses.create({
          model: m('stub-text'),
          input: 'hi',
        }),
      401,
    )
  })
  check('openai: models', async () => {
    const ids = []
    for await (const x of o.models.list()) ids.push(x.id)
    ok(ids.includes(m('stub-text')), ids.slice(0, 4).join())
    eq((await o.models.retrieve(m('stub-text'))).id, m('stub-text'))
  })
  if (agents && zod) {
    const w = agents.tool({
      name: 'get_weather',
      description: 'w',
      parameters: zod.z.object({ city: zod.z.string() }),
      execute: async () => 'sunny',
    })
    const before = () => {
      agents.setTracingDisabled(true)
      agents.setDefaultOpenAIClient(o)
    }
    check('agents: a run with a tool', async () => {
      before()
      const r = await agents.run(
        new agents.Agent({ name: 'A', instructions: 'x', model: m('stub-agent'), tools: [w] }),
        'hi',
      )
      eq([r.finalOutput, r.rawResponses.length], ['Hello, world.', 2])
    })
    check('agents: a streamed run with a tool', async () => {
      before()
      const r = await agents.run(new agents.Agent({ name: 'A', model: m('stub-agent'), tools: [w] }), 'hi', {
        stream: true,
      })
      for await (const _ of r);
      await r.completed
      eq(r.finalOutput, 'Hello, world.')
    })
  }
}
if (anthropic) {
  const a = new anthropic.Anthropic({ baseURL: URL_, apiKey: KEY, authToken: null, timeout: 30000 }),
    a0 = a.withOptions({ maxRetries: 0 })
  const body = (name, more) => ({ model: m(name), max_tokens: 50, messages: HI, ...more })
  check('anthropic: create', async () => {
    const r = await a.messages.create(body('stub-text'))
    eq(
      [r.content[0].text, r.stop_reason, r.usage.input_tokens, r.usage.output_tokens, r.model],
      ['Hello, world.', 'end_turn', 12, 4, m('stub-text')],
    )
  })
  check('anthropic: stream helper, thinking', async () => {
    const r = await a.messages
      .stream(body('stub-reason', { max_tokens: 2000, thinking: { type: 'adaptive' } }))
      .finalMessage()
    eq(
      r.content.map((b) => b.signature ?? b.text),
      ['sigStub==', 'Hello, world.'],
    )
    eq(r.usage.output_tokens, 90)
  })
  check('anthropic: stream helper, tool use', async () => {
    const r = await a.messages
      .stream(body('stub-tool', { tools: [{ name: 'get_weather', input_schema: { type: 'object' } }] }))
      .finalMessage()
    eq([r.stop_reason, r.content.at(-1).input], ['tool_use', { city: 'Paris' }])
  })
  check('anthropic: cache usage in a stream', async () => {
    const u = (await a.messages.stream(body('stub-cached')).finalMessage()).usage
    eq(
      [u.input_tokens, u.cache_creation_input_tokens, u.cache_read_input_tokens, u.output_tokens],
      [80, 100, 1920, 30],
    )
  })
  check('anthropic: a slow stream with pings and comments', async () => {
    const r = await a.messages.stream(body('stub-slow')).finalMessage()
    eq(r.content[0].text, 'Hello, world.')
  })
  for (const bad of ['stub-mid', 'stub-drop'])
    check(`anthropic: ${bad.slice(5)} within a stream is an error`, () =>
      raises(() => a0.messages.stream(body(bad)).finalMessage()),
    )
  check("anthropic: 429, 404, 401, 529 in Anthropic's form", async () => {
    for (const [name, s, type] of [
      ['stub-429', 429, 'rate_limit_error'],
      ['stub-529', [529, 503], 'overloaded_error'],
      ['absent-model', 404, 'not_found_error'],
    ]) {
      const e = await raises(() => a0.messages.create(body(name)), s)
      eq([e.error?.type, e.error?.error?.type], ['error', type], name)
    }
    const e = await raises(
      () =>
        new anthropic.Anthropic({
          baseURL: URL_,
          apiKey: 'wrong',
          authToken: null,
          maxRetries: 0,
        }).messages.create(body('stub-text')),
      401,
    )
    eq(e.error?.error?.type, 'authentication_error')
  })
  check('anthropic: count_tokens', async () =>
    eq((await a.messages.countTokens({ model: m('stub-text'), messages: HI })).input_tokens, 12),
  )
  check('anthropic: models', async () => {
    const ids = []
    for await (const x of a.models.list()) ids.push([x.id, x.type])
    ok(
      ids.some(([id, t]) => id === m('stub-text') && t === 'model'),
      JSON.stringify(ids.slice(0, 3)),
    )
  })
  check('anthropic: betas reach the upstream', async () => {
    await a.beta.messages.create(
      body('stub-text', { betas: ['context-management-2025-06-27'], context_management: { edits: [] } }),
    )
    const r = (await stubSaw()).at(-1)
    eq(
      [r.headers['anthropic-beta'], r.body.context_management],
      ['context-management-2025-06-27', { edits: [] }],
    )
  })
}
if (ai && zod) {
  const tools = {
    get_weather: ai.tool({
      description: 'w',
      inputSchema: zod.z.object({ city: zod.z.string() }),
      execute: async () => 'sunny',
    }),
  }
  const parts = async (model) => {
    const r = ai.streamText({ model, prompt: 'hi', maxRetries: 0, onError() {} }),
      p = []
    try {
      for await (const x of r.fullStream) p.push(x.type)
    } catch {
      p.push('error')
    }
    return p
  }
  const kinds = []
  if (aiOpenai) kinds.push(['@ai-sdk/openai', aiOpenai.createOpenAI({ baseURL: `${URL_}/v1`, apiKey: KEY })])
  if (aiAnthropic)
    kinds.push(['@ai-sdk/anthropic', aiAnthropic.createAnthropic({ baseURL: `${URL_}/v1`, apiKey: KEY })])
  for (const [name, p] of kinds) {
    check(`${name}: generateText with usage`, async () => {
      const r = await ai.generateText({ model: p(m('stub-cached')), prompt: 'hi' })
      eq(
        [
          r.text,
          r.usage.inputTokens,
          r.usage.inputTokenDetails?.cacheReadTokens ?? r.usage.cachedInputTokens,
          r.usage.outputTokens,
        ],
        ['Hello, world.', 2100, 1920, 30],
      )
    })
    check(`${name}: streamText`, async () => {
      const r = ai.streamText({ model: p(m('stub-reason')), prompt: 'hi', onError() {} })
      let s = ''
      for await (const x of r.textStream) s += x
      eq([s, (await r.usage).outputTokens], ['Hello, world.', 90])
    })
    check(`${name}: two steps with a tool`, async () => {
      const r = await ai.generateText({
        model: p(m('stub-agent')),
        prompt: 'hi',
        tools,
        stopWhen: ai.stepCountIs(3),
      })
      eq([r.text, r.steps.length], ['Hello, world.', 2])
    })
    check(`${name}: a clean stream has no error part`, async () =>
      ok(!(await parts(p(m('stub-slow')))).includes('error'), 'error part'),
    )
    for (const bad of ['stub-mid', 'stub-drop', 'stub-529', 'stub-429'])
      check(`${name}: ${bad.slice(5)} is an error part`, async () => {
        const got = await parts(p(m(bad)))
        ok(got.includes('error'), got.join())
      })
  }
  if (aiOpenai) {
    check('@ai-sdk/openai: object', async () =>
      eq(
        (
          await ai.generateObject({
            model: kinds[0][1](m('stub-json')),
            prompt: 'x',
            schema: zod.z.object({ city: zod.z.string(), ok: zod.z.boolean() }),
          })
        ).object,
        { city: 'Paris', ok: true },
      ),
    )
    check('@ai-sdk/openai: embedMany', async () =>
      eq(
        (await ai.embedMany({ model: kinds[0][1].embedding(m('stub-embed')), values: ['x', 'y'] })).embeddings
          .length,
        2,
      ),
    )
  }
}
if (genai) {
  const g = new genai.GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: URL_ } })
  check('genai: generateContent and stream', async () => {
    const r = await g.models.generateContent({ model: m('stub-reason'), contents: 'hi' })
    eq([r.text, r.usageMetadata.thoughtsTokenCount], ['Hello, world.', 64])
    let s = ''
    for await (const c of await g.models.generateContentStream({ model: m('stub-text'), contents: 'hi' }))
      s += c.text ?? ''
    eq(s, 'Hello, world.')
  })
}

const stub = spawn(process.execPath, [join(HERE, 'stub_upstream.mjs')], {
  env: { ...process.env, PORT, EXPECT_KEY: 'upstream-key', REFERENCE: SELF ? '1' : '0' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
await new Promise((r) => stub.stdout.once('data', r))
if (process.env.SETUP)
  await new Promise((done, no) =>
    spawn(process.env.SETUP, { env: { ...process.env, STUB_URL: STUB }, stdio: 'inherit' }).once(
      'close',
      (c) => (c ? no(new Error(`SETUP ended with ${c}`)) : done()),
    ),
  )
let passed = 0,
  failed = 0
for (const [name, f] of checks) {
  if (process.env.ONLY && !new RegExp(process.env.ONLY).test(name)) continue
  try {
    await f()
    passed++
    console.log('ok   ', name)
  } catch (e) {
    failed++
    console.log('FAIL ', name, '-', String(e.message).slice(0, 220))
  }
}
stub.kill()
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
