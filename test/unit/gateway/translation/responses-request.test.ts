import assert from 'node:assert/strict'
import { responses } from '../../../../src/gateway/translation/responses.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { jsonText } from '../../../../src/kernel/json/text.js'
import { chatRequest, refusedPlace } from './translated.js'

const translated = (members: JsonObject, mayDrop = false) =>
  chatRequest(responses, { model: 'm', input: 'hi', ...members }, mayDrop)

const member = (key: string, members: JsonObject): Json | undefined => translated(members).given[key]

const messagesOf = (...input: readonly JsonObject[]): Json | undefined => member('messages', { input })

const refused = (members: JsonObject): string | undefined =>
  refusedPlace(responses, { model: 'm', input: 'hi', ...members })

const HELLO = { role: 'user', content: 'hi' }
const message = (role: string, ...content: readonly Json[]) => ({
  type: 'message',
  id: 'msg_1',
  role,
  content,
})
const text = (value: string, type = 'input_text') => ({ type, text: value })
const image = { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'low' }
const chatImage = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=', detail: 'low' } }
const functionCall = (call_id: string, given = '{}') => ({
  type: 'function_call',
  id: 'fc_1',
  call_id,
  name: 'get',
  arguments: given,
})
const output = (call_id: string, value: Json) => ({ type: 'function_call_output', call_id, output: value })
const call = (id: string, given = '{}') => ({
  id,
  type: 'function',
  function: { name: 'get', arguments: given },
})

describe('a request to the responses API, as a chat completion', () => {
  it('has the fields that both know', () => {
    const given = {
      stream: true,
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 9,
      user: 'u',
      reasoning: { effort: 'minimal', summary: 'auto' },
    }
    assert.deepEqual(translated(given), {
      given: {
        model: 'm',
        messages: [HELLO],
        stream: true,
        temperature: 0.5,
        top_p: 0.9,
        max_completion_tokens: 9,
        reasoning_effort: 'minimal',
        user: 'u',
      },
      dropped: [],
    })
  })

  it('keeps the digits of numbers', () => {
    const given = parseJson(
      `{"model":"m","input":"hi","top_p":1.0,"tools":[{"type":"function","name":"get",
        "parameters":{"const":12345678901234567890}}]}`,
    ) as JsonObject
    const chat = jsonText(chatRequest(responses, given).given)
    assert(chat.includes('"const":12345678901234567890'))
    assert(chat.includes('"top_p":1.0'))
  })

  it('takes the request of an agent', () => {
    const given = {
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      parallel_tool_calls: true,
      tool_choice: 'auto',
      reasoning: { summary: 'auto' },
      prompt_cache_key: 'k',
      client_metadata: { session_id: 's' },
      input: [message('developer', text('be brief')), message('user', text('say hi'))],
      tools: [
        { type: 'function', name: 'exec', description: '', strict: false, parameters: { type: 'object' } },
      ],
    }
    assert.deepEqual(translated(given), {
      given: {
        model: 'm',
        messages: [
          { role: 'system', content: 'be brief' },
          { role: 'user', content: 'say hi' },
        ],
        tools: [
          { type: 'function', function: { name: 'exec', description: '', parameters: { type: 'object' } } },
        ],
        tool_choice: 'auto',
        stream: true,
      },
      dropped: [],
    })
  })

  describe('of items', () => {
    const cases: readonly (readonly [string, readonly JsonObject[], Json])[] = [
      ['takes a message without a type', [HELLO], [HELLO]],
      [
        'takes texts, images and files',
        [
          message(
            'user',
            text('a'),
            image,
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' },
            { type: 'input_file', file_data: 'data:application/pdf;base64,aGk=' },
          ),
        ],
        [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              chatImage,
              { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
              {
                type: 'file',
                file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,aGk=' },
              },
            ],
          },
        ],
      ],
      [
        'takes an answer and a refusal',
        [message('assistant', text('a', 'output_text'), { type: 'refusal', refusal: 'b' })],
        [{ role: 'assistant', content: 'ab' }],
      ],
      [
        'makes one message of an answer and its calls',
        [message('assistant', text('look', 'output_text')), functionCall('a', '{"x":1}'), functionCall('b')],
        [{ role: 'assistant', content: 'look', tool_calls: [call('a', '{"x":1}'), call('b')] }],
      ],
      [
        'places images of results after all of them',
        [
          functionCall('a'),
          functionCall('b'),
          output('a', [text('one'), image]),
          output('b', 'two'),
          functionCall('c'),
          output('c', ''),
        ],
        [
          { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
          { role: 'tool', content: 'one', tool_call_id: 'a' },
          { role: 'tool', content: 'two', tool_call_id: 'b' },
          { role: 'user', content: [chatImage] },
          { role: 'assistant', content: null, tool_calls: [call('c')] },
          { role: 'tool', content: '', tool_call_id: 'c' },
        ],
      ],
      [
        'takes calls of custom tools',
        [
          { type: 'custom_tool_call', call_id: 'a', name: 'get', input: 'echo "1"' },
          { type: 'custom_tool_call_output', call_id: 'a', output: '1' },
        ],
        [
          { role: 'assistant', content: null, tool_calls: [call('a', '{"input":"echo \\"1\\""}')] },
          { role: 'tool', content: '1', tool_call_id: 'a' },
        ],
      ],
    ]
    for (const [behaviour, given, chat] of cases)
      it(behaviour, () => assert.deepEqual(messagesOf(...given), chat))

    it('starts with the instructions', () => {
      const input = [message('developer', text('b')), HELLO]
      const chat = [{ role: 'system', content: 'a\n\nb' }, HELLO]
      assert.deepEqual(member('messages', { instructions: 'a', input }), chat)
      assert.deepEqual(member('messages', { instructions: [message('system', text('a'))], input }), chat)
    })

    it('never sends reasoning of the history as text', () => {
      const summary = [{ type: 'summary_text', text: 'secret' }]
      const { given, dropped } = translated({ input: [{ type: 'reasoning', id: 'rs_1', summary }, HELLO] })
      assert.deepEqual(given['messages'], [HELLO])
      assert.deepEqual(dropped, ['input.0'])
    })
  })

  describe('of tools', () => {
    const named = (name: string, type = 'function') => ({ type, name, parameters: { type: 'object' } })
    const chatTool = (name: string) => ({
      type: 'function',
      function: { name, parameters: { type: 'object' } },
    })
    const tools = [named('a'), named('b')]

    it('names functions', () => {
      assert.deepEqual(member('tools', { tools }), [chatTool('a'), chatTool('b')])
      assert.deepEqual(
        member('tools', { tools: [{ type: 'function', name: 'a', strict: true, parameters: null }] }),
        [{ type: 'function', function: { name: 'a', strict: true } }],
      )
    })

    for (const [name, choice, chat] of [
      ['a mode', 'required', 'required'],
      ['a function', { type: 'function', name: 'a' }, { type: 'function', function: { name: 'a' } }],
      ['a custom tool', { type: 'custom', name: 'a' }, { type: 'function', function: { name: 'a' } }],
    ] as const)
      it(`takes the choice of ${name}`, () => {
        const { given } = translated({ tools, tool_choice: choice, parallel_tool_calls: false })
        assert.deepEqual([given['tool_choice'], given['parallel_tool_calls']], [chat, false])
      })

    it('has only the tools that are allowed', () => {
      const tool_choice = {
        type: 'allowed_tools',
        mode: 'required',
        tools: [{ type: 'function', name: 'b' }],
      }
      const { given } = translated({ tools, tool_choice })
      assert.deepEqual([given['tools'], given['tool_choice']], [[chatTool('b')], 'required'])
    })

    it('prefixes the names of tools in a namespace', () => {
      const { given } = translated({
        tools: [named('a'), { type: 'namespace', name: 'n', tools: [named('a'), named('b')] }],
        tool_choice: { type: 'function', namespace: 'n', name: 'b' },
        input: [{ ...functionCall('c'), namespace: 'n', name: 'b' }],
      })
      assert.deepEqual(given['tools'], [chatTool('a'), chatTool('n__a'), chatTool('n__b')])
      assert.deepEqual(given['tool_choice'], { type: 'function', function: { name: 'n__b' } })
      const [{ tool_calls }] = given['messages'] as readonly [JsonObject]
      assert.deepEqual(tool_calls, [{ ...call('c'), function: { name: 'n__b', arguments: '{}' } }])
    })

    it('has a function with one text for a custom tool', () => {
      const format = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' }
      const parameters = {
        type: 'object',
        properties: { input: { type: 'string' } },
        required: ['input'],
        additionalProperties: false,
      }
      const custom = [
        { type: 'custom', name: 'a', description: 'd', format },
        { type: 'custom', name: 'b', format: { type: 'text' } },
      ]
      assert.deepEqual(member('tools', { tools: custom }), [
        {
          type: 'function',
          function: {
            name: 'a',
            description: 'd\n\nThe input must match this lark grammar:\nstart: "a"',
            parameters,
          },
        },
        { type: 'function', function: { name: 'b', description: '', parameters } },
      ])
    })
  })

  it('takes formats of the answer', () => {
    const schema = { type: 'object' }
    const format = { type: 'json_schema', name: 'n', schema, strict: true }
    assert.deepEqual(member('response_format', { text: { format } }), {
      type: 'json_schema',
      json_schema: { name: 'n', schema, strict: true },
    })
    const json = { type: 'json_object' }
    assert.deepEqual(member('response_format', { text: { format: json } }), json)
    assert.equal(member('response_format', { text: { format: { type: 'text' } } }), undefined)
    assert.equal(member('verbosity', { text: { verbosity: 'low' } }), 'low')
    assert.equal(member('verbosity', { text: { format, verbosity: 'low' } }), 'low')
  })

  it('has the id of the user, hashed if it is long', () => {
    assert.equal(member('user', { safety_identifier: 's' }), 's')
    assert.equal(member('user', { user: 'u', safety_identifier: 's' }), 'u')
    assert.match(member('user', { user: 'u'.repeat(65) }) as string, /^[0-9a-f]{64}$/)
  })

  it('names the fields that it leaves out', () => {
    const { given, dropped } = translated({
      metadata: {},
      prompt_cache_key: 'k',
      service_tier: 'flex',
      truncation: 'auto',
      future: 1,
      n: 1,
      top_logprobs: 0,
      previous_response_id: null,
      background: false,
    })
    assert.deepEqual(given, translated({}).given)
    assert.deepEqual(dropped, ['service_tier', 'truncation', 'future'])
  })

  describe('refuses what a chat completion cannot express, unless it may be dropped:', () => {
    const input = (...items: readonly JsonObject[]) => ({ input: [HELLO, ...items] })
    for (const [place, members] of [
      ['tools.1', { tools: [{ type: 'function', name: 'a' }, { type: 'web_search' }] }],
      [
        'tools.0.tools.0',
        { tools: [{ type: 'namespace', name: 'a', tools: [{ type: 'namespace', name: 'b' }] }] },
      ],
      ['n', { n: 2 }],
      ['top_logprobs', { top_logprobs: 2 }],
      ['include.0', { include: ['message.output_text.logprobs'] }],
      ['text.format', { text: { format: { type: 'xml' } } }],
      ['input.1', input({ type: 'web_search_call' })],
      ['input.1', input({ type: 'compaction', encrypted_content: 'x' })],
      ['input.1.content.0', input(message('user', { type: 'input_audio' }))],
      ['input.1.content.0', input(message('user', { type: 'input_image', file_id: 'f' }))],
      ['input.1.content.0', input(message('user', { type: 'input_file', file_url: 'https://x' }))],
      ['input.1.output.0', input(output('a', [{ type: 'input_file', file_id: 'f' }]))],
    ] as const)
      it(`${place} of ${JSON.stringify(members).slice(0, 60)}`, () => {
        assert.equal(refused(members as JsonObject), place)
        assert.deepEqual(translated(members as JsonObject, true).dropped, [place])
      })
  })

  describe('always refuses what refers to stored content:', () => {
    for (const [place, members] of [
      ['previous_response_id', { previous_response_id: 'resp_1' }],
      ['conversation', { conversation: 'conv_1' }],
      ['prompt', { prompt: { id: 'p' } }],
      ['background', { background: true }],
      ['input.0', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ] as const)
      it(place, () => {
        assert.equal(refused(members as JsonObject), place)
        assert.throws(() => translated(members, true))
      })
  })

  describe('names the place of a wrong', () => {
    const item = (value: Json) => ({ input: [value] })
    for (const [place, members] of [
      ['input', { input: null }],
      ['input', { input: 1 }],
      ['input.0', item('a')],
      ['input.0.role', item({ content: 'a' })],
      ['input.0.role', item({ role: 'tool', content: 'a' })],
      ['input.0.content', item({ role: 'user' })],
      ['input.0.content.0', item(message('user', 'a'))],
      ['input.0.content.0.type', item(message('user', {}))],
      ['input.0.content.0.text', item(message('user', { type: 'input_text' }))],
      ['input.0.call_id', item({ ...functionCall('a'), call_id: 1 })],
      ['input.0.arguments', item({ ...functionCall('a'), arguments: {} })],
      ['input.0.output', item(output('a', null))],
      ['instructions', { instructions: 1 }],
      ['max_output_tokens', { max_output_tokens: '9' }],
      ['tools.0', { tools: ['a'] }],
      ['tools.0.name', { tools: [{ type: 'function' }] }],
      ['tools.0.tools', { tools: [{ type: 'namespace', name: 'n' }] }],
      ['tools.0.tools.0.name', { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function' }] }] }],
      ['tool_choice.tools.0.name', { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{}] } }],
      ['tools.0.parameters', { tools: [{ type: 'function', name: 'a', parameters: [] }] }],
      ['tool_choice', { tool_choice: 1 }],
      ['tool_choice.type', { tool_choice: { type: 'web_search' } }],
      ['tool_choice.name', { tool_choice: { type: 'function' } }],
      ['tool_choice.tools', { tool_choice: { type: 'allowed_tools', mode: 'auto' } }],
      ['include', { include: 'a' }],
      ['reasoning', { reasoning: 'high' }],
      ['reasoning.effort', { reasoning: { effort: 1 } }],
      ['text', { text: 'a' }],
      ['text.format.name', { text: { format: { type: 'json_schema', schema: {} } } }],
      ['text.format.schema', { text: { format: { type: 'json_schema', name: 'a' } } }],
    ] as const)
      it(`${place}: ${JSON.stringify(members).slice(0, 60)}`, () =>
        assert.equal(refused(members as JsonObject), place))
  })

  it('takes long histories', () => {
    const turns = Array.from({ length: 20_000 }, (_, at) => [
      { type: 'reasoning', summary: [] },
      functionCall(`a${at}`),
      functionCall(`b${at}`),
      output(`a${at}`, [text('x'), image]),
      output(`b${at}`, 'y'),
    ])
    const { given, dropped } = translated({ input: turns.flat() })
    assert.equal((given['messages'] as readonly Json[]).length, 80_000)
    assert.equal(dropped.length, 100)
  })
})
