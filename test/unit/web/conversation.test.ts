import assert, { deepStrictEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { messagesIn, messagesOut, toolsIn, type Message } from '../../../web/traces/conversation.js'
import { arbitraryJson } from '../../support/arbitrary-json.js'

const fileOf = (name: string): string => readFileSync(`test/samples/gateway/${name}`, 'utf8')
const request = (name: string): unknown => JSON.parse(fileOf(`${name}.request.json`))

/** What is recorded of a stream of the Responses API. */
const response = (name: string): unknown => {
  const data = fileOf(`${name}.response.sse`).trim().split('\n').at(-1)!
  return (JSON.parse(data.slice('data: '.length)) as { readonly response: unknown }).response
}

/** Each part as `role: kind: text`. */
const linesOf = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap(({ role, parts }) =>
    parts.map((part) => {
      const text = part.kind === 'image' ? part.url : part.kind === 'tool call' ? part.input : part.text
      const name = part.kind === 'tool call' ? ` ${part.name}` : ''
      return `${role}: ${part.kind}${name}: ${text.replaceAll(/\s+/g, ' ')}`
    }),
  )

const input = (...items: readonly unknown[]) => linesOf(messagesIn({ model: 'm', input: items }))
const output = (...items: readonly unknown[]) => linesOf(messagesOut({ object: 'response', output: items }))
const answer = (...content: readonly unknown[]) =>
  linesOf(messagesOut({ type: 'message', role: 'assistant', content }))

const WEATHER = 'assistant: tool call get_weather: { "city": "Paris" }'

describe('the messages that a call returned', () => {
  it('show reasoning apart from the content', () => {
    for (const name of ['reasoning_content', 'reasoning'])
      deepStrictEqual(messagesOut({ role: 'assistant', content: 'Hello.', [name]: 'Think.' }), [
        {
          role: 'assistant',
          parts: [
            { kind: 'reasoning', text: 'Think.' },
            { kind: 'text', text: 'Hello.' },
          ],
        },
      ])
  })

  it('are all messages of a run', () => {
    const messages = [
      { role: 'assistant', content: 'Hello.' },
      { role: 'tool', content: '7 degrees' },
    ]
    deepStrictEqual(
      messagesOut({ messages }).map(({ role }) => role),
      ['assistant', 'tool'],
    )
  })

  it('are the items of a response, with reasoning and calls in the message of the assistant', () => {
    const reasoned = messagesOut(response('04-responses-reason-stream'))
    assert.equal(reasoned.length, 1)
    deepStrictEqual(linesOf(reasoned), ['assistant: reasoning: I think.', 'assistant: text: Hello, world.'])
    deepStrictEqual(linesOf(messagesOut(response('03-responses-tools2-stream'))), [WEATHER, WEATHER])
    deepStrictEqual(linesOf(messagesOut(JSON.parse(fileOf('01-responses-text.response.json')))), [
      'assistant: text: Hello, world.',
    ])
  })

  it('show reasoning of open models, encrypted reasoning, refusals and pictures of a response', () => {
    deepStrictEqual(
      output(
        { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'I think.' }] },
        { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' },
        { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        { type: 'image_generation_call', status: 'completed', result: 'AAAA' },
      ),
      [
        'assistant: reasoning: I think.',
        'assistant: reasoning: Encrypted by the provider.',
        'assistant: refusal: No.',
        'assistant: tool call image_generation: ',
        'assistant: image: data:image/png;base64,AAAA',
      ],
    )
  })

  it('show calls of custom and of hosted tools, and their results', () => {
    deepStrictEqual(
      output(
        { type: 'custom_tool_call', call_id: 'c', name: 'apply_patch', input: '*** Begin Patch' },
        { type: 'web_search_call', id: 'w', action: { type: 'search', query: 'weather' } },
        { type: 'code_interpreter_call', id: 'i', code: 'print(1)', outputs: [{ type: 'logs', logs: '1' }] },
        { type: 'mcp_call', name: 'roll', arguments: '{"dice":2}', output: '7', error: null },
        { type: 'mcp_list_tools', server_label: 'dice', tools: [] },
      ),
      [
        'assistant: tool call apply_patch: *** Begin Patch',
        'assistant: tool call web_search: { "type": "search", "query": "weather" }',
        'assistant: tool call code_interpreter: print(1)',
        'assistant: tool result: [ { "type": "logs", "logs": "1" } ]',
        'assistant: tool call roll: { "dice": 2 }',
        'assistant: tool result: 7',
        'mcp list tools: other: { "type": "mcp_list_tools", "server_label": "dice", "tools": [] }',
      ],
    )
  })

  it("are the blocks of Anthropic's messages", () => {
    deepStrictEqual(
      answer(
        { type: 'thinking', thinking: 'I think.', signature: 'sig' },
        { type: 'redacted_thinking', data: 'AAAA' },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'toolu_a', name: 'get_weather', input: { city: 'Paris' } },
        { type: 'server_tool_use', id: 'srv', name: 'web_search', input: { query: 'weather' } },
        { type: 'web_search_tool_result', tool_use_id: 'srv', content: [{ title: 'Rain' }] },
      ),
      [
        'assistant: reasoning: I think.',
        'assistant: reasoning: Encrypted by the provider.',
        'assistant: text: Let me look.',
        WEATHER,
        'assistant: tool call web_search: { "query": "weather" }',
        'assistant: tool result: [ { "title": "Rain" } ]',
      ],
    )
  })

  it('are the refusal and the custom tool calls of a chat completion', () => {
    const message = {
      role: 'assistant',
      content: null,
      refusal: 'No.',
      tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'run', input: 'ls' } }],
    }
    deepStrictEqual(linesOf(messagesOut({ choices: [{ message }] })), [
      'assistant: refusal: No.',
      'assistant: tool call run: ls',
    ])
  })

  it('are the texts of completions, and how many vectors there are', () => {
    deepStrictEqual(
      linesOf(
        messagesOut({
          choices: [
            { index: 0, text: 'One.' },
            { index: 1, text: 'Two.' },
          ],
        }),
      ),
      ['assistant: text: One.', 'assistant: text: Two.'],
    )
    const vectors = (...data: readonly object[]) => linesOf(messagesOut({ object: 'list', data }))
    deepStrictEqual(vectors({ index: 0, dimensions: 1536 }, { index: 1, dimensions: 1536 }), [
      'embeddings: text: 2 vectors of 1536 dimensions',
    ])
    const base64 = 'IkzKPn+a2j7KtIc9O/G1vsWI5r4fWQa+FvKdPtLZ7T4='
    deepStrictEqual(vectors({ embedding: base64 }), ['embeddings: text: 1 vector of 8 dimensions'])
    deepStrictEqual(vectors({ embedding: [1, 2, 3] }), ['embeddings: text: 1 vector of 3 dimensions'])
    deepStrictEqual(vectors({ id: 'a-file' }), [])
  })
})

describe('the messages that a call got', () => {
  it('are those of Codex, whose system prompt is an item of a developer', () => {
    const given = request('08-responses-codex-turn-stream')
    deepStrictEqual(linesOf(messagesIn(given)), ['developer: text: be brief', 'user: text: say hi'])
    deepStrictEqual(
      toolsIn(given).map(({ name, description }) => [name, description]),
      [['exec_command', '']],
    )
  })

  it('are the results of tools as messages of their own', () => {
    const arguments_ = { call_id: 'c', name: 'get_weather', arguments: '{"city":"Paris"}' }
    deepStrictEqual(
      input(
        { role: 'user', content: 'hi' },
        { type: 'function_call', ...arguments_ },
        { type: 'function_call_output', call_id: 'c', output: '7 degrees' },
        { type: 'function_call_output', call_id: 'd', output: [{ type: 'input_text', text: 'rain' }] },
        {
          type: 'computer_call_output',
          output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,A' },
        },
        { type: 'item_reference', id: 'msg_1' },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Rain.' }] },
      ),
      [
        'user: text: hi',
        WEATHER,
        'tool: text: 7 degrees',
        'tool: text: rain',
        'tool: image: data:image/png;base64,A',
        'item reference: other: { "type": "item_reference", "id": "msg_1" }',
        'assistant: text: Rain.',
      ],
    )
  })

  it('name the tool calls whose results they are', () => {
    const idsOf = (messages: readonly Message[]) =>
      messages.map(({ callId, parts }) => callId ?? parts.map((part) => ('id' in part ? part.id : '')).join())
    const items = [
      { type: 'function_call', id: 'fc', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: '7' },
    ]
    const chat = [
      { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c', content: '7' },
    ]
    const blocks = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: '7' }] },
    ]
    for (const messages of [items, chat, blocks])
      deepStrictEqual(idsOf(messagesIn({ model: 'm', input: messages })), ['c', 'c'])
  })

  it('are those of Claude Code, with a system message between the others', () => {
    const given = request('14-messages-claude-code-turn-stream')
    deepStrictEqual(linesOf(messagesIn(given)), [
      'system: text: x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=sdk-cli;',
      'system: text: be brief',
      'user: text: say hi',
      'system: text: (trimmed)',
    ])
    const [tool] = toolsIn(given)
    deepStrictEqual([tool?.name, tool?.description], ['Bash', 'run'])
    assert.match(tool!.rest, /"input_schema"/)
  })

  it("are tool results of Anthropic's messages before the rest of their message", () => {
    const result = { type: 'tool_result', tool_use_id: 'toolu_a' }
    const png = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
    const content = [
      {
        ...result,
        content: [
          { type: 'text', text: '7 degrees' },
          { type: 'image', source: png },
        ],
      },
      { ...result, content: 'no such city', is_error: true },
      { type: 'text', text: 'And now?' },
    ]
    deepStrictEqual(linesOf(messagesIn({ messages: [{ role: 'user', content }] })), [
      'tool: text: 7 degrees',
      'tool: image: data:image/png;base64,AAAA',
      'tool error: text: no such city',
      'user: text: And now?',
    ])
    deepStrictEqual(linesOf(messagesIn({ messages: [{ role: 'user', content: [result] }] })), [])
  })

  it('show files by name and size, pictures, and documents of text', () => {
    const content = [
      { type: 'input_image', image_url: 'https://example.com/a.png' },
      { type: 'image', source: { type: 'url', url: 'https://example.com/b.png' } },
      { type: 'input_image', file_id: 'file-1' },
      { type: 'input_file', filename: 'report.pdf', file_data: 'A'.repeat(4096) },
      { type: 'file', file: { filename: 'report.pdf', file_id: 'file-2' } },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      {
        type: 'document',
        title: 'Report',
        source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
      },
      { type: 'document', source: { type: 'url', url: 'https://example.com/c.pdf' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'As text.' } },
    ]
    deepStrictEqual(input({ role: 'user', content }), [
      'user: image: https://example.com/a.png',
      'user: image: https://example.com/b.png',
      'user: file: image, file-1',
      'user: file: report.pdf, 3 KB',
      'user: file: report.pdf, file-2',
      'user: file: audio, wav, 1 KB',
      'user: file: Report, application/pdf, 1 KB',
      'user: file: document, https://example.com/c.pdf',
      'user: text: As text.',
    ])
  })

  it('are a single text, with its instructions', () => {
    deepStrictEqual(linesOf(messagesIn({ model: 'm', input: 'hi', instructions: 'Be brief.' })), [
      'system: text: Be brief.',
      'user: text: hi',
    ])
    deepStrictEqual(messagesIn({ input: 'hi' }), [])
  })

  it('are the prompts of completions, and the texts or tokens of embeddings', () => {
    deepStrictEqual(linesOf(messagesIn(request('16-completions-stream'))), ['prompt: text: hi'])
    deepStrictEqual(linesOf(messagesIn({ model: 'm', prompt: ['def f(', 'class A'], suffix: ')' })), [
      'prompt: text: def f(',
      'prompt: text: class A',
      'suffix: text: )',
    ])
    deepStrictEqual(linesOf(messagesIn(request('15-embeddings-token-arrays'))), [
      'input: other: 3 tokens: 1 2 3',
      'input: other: 1 token: 4',
    ])
    const op = 'openai.embeddings.create'
    deepStrictEqual(linesOf(messagesIn({ model: 'm', input: 'hi' }, op)), ['input: text: hi'])
    deepStrictEqual(linesOf(messagesIn({ model: 'm', input: ['a', 'b'] }, op)), [
      'input: text: a',
      'input: text: b',
    ])
    deepStrictEqual(messagesIn({ model: 'm', input: [{ a: 1 }] }), [])
  })

  it('leave no part of a conversation out', () => {
    deepStrictEqual(input({ role: 'user', content: 'hi' }, 'stray', { type: 'new_item', a: 1 }, { b: 2 }), [
      'user: text: hi',
      'other: other: stray',
      'new item: other: { "type": "new_item", "a": 1 }',
      'other: other: { "b": 2 }',
    ])
  })
})

describe('hostile content', () => {
  it('of any type has messages', () => {
    const named = fc.record(
      {
        type: fc.constantFrom(
          'reasoning',
          'message',
          'function_call',
          'mcp_call',
          'x_output',
          'tool_result',
          'thinking',
        ),
        role: fc.oneof(fc.constantFrom('user', 'assistant'), arbitraryJson),
        content: fc.oneof(arbitraryJson, fc.array(arbitraryJson)),
        ...Object.fromEntries(
          'text summary output arguments input tool_calls refusal source image_url file name'
            .split(' ')
            .map((name) => [name, arbitraryJson]),
        ),
      },
      { requiredKeys: [] },
    )
    const items = fc.array(fc.oneof(named, arbitraryJson))
    fc.assert(
      fc.property(items, items, arbitraryJson, (some, others, one) => {
        for (const value of [some, others, one]) {
          const blocks = [{ role: 'user', content: value }]
          for (const messages of [value, blocks])
            messagesIn({ model: 'm', messages, system: one, tools: value })
          messagesIn({ model: 'm', input: value, instructions: value, prompt: one })
          messagesOut({ output: value })
          messagesOut({ choices: value, data: value })
          messagesOut({ role: 'assistant', content: value })
          toolsIn({ tools: value })
        }
      }),
    )
  })

  it('that is deep is not indented, which would multiply its length', () => {
    const deep = `${'['.repeat(200)}1${']'.repeat(200)}`
    const many = `[${Array(5000).fill(deep).join()}]`
    const called = messagesOut({ output: [{ type: 'function_call', name: 'f', arguments: many }] })
    deepStrictEqual(called, [
      { role: 'assistant', parts: [{ kind: 'tool call', id: '', name: 'f', input: many }] },
    ])
    const part = { type: 'new', value: JSON.parse(many) as unknown }
    const [message] = messagesOut({ role: 'assistant', content: [part] })
    deepStrictEqual(message?.parts, [{ kind: 'other', text: JSON.stringify(part) }])
  })

  it('of many items is one message', () => {
    const items = Array.from({ length: 200_000 }, () => ({ type: 'reasoning', summary: [{ text: 'a' }] }))
    const [message] = messagesOut({ output: items })
    assert.equal(message?.parts.length, 200_000)
  })
})
