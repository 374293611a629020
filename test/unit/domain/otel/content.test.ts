import { deepStrictEqual } from 'node:assert/strict'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { anEvent, flattened, meaning } from './arbitrary.js'

const inputs = (attributes: JsonObject) => meaning(attributes).inputs
const output = (attributes: JsonObject) => meaning(attributes).output

const genAi = (parts: readonly Json[], role = 'user'): JsonObject => ({
  'gen_ai.input.messages': JSON.stringify([{ role, parts }]),
})

describe('the inputs of a span', () => {
  it('begin with the instructions of the system', () => {
    const attributes = {
      ...genAi([{ type: 'text', content: 'hi' }]),
      'gen_ai.system_instructions': '[{"type":"text","content":"Be brief."}]',
    }
    deepStrictEqual(inputs(attributes), {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
      ],
    })
  })

  it('keep reasoning, images and unknown parts of a message apart', () => {
    const audio = { type: 'blob', modality: 'audio', mime_type: 'audio/wav', content: 'UklG' }
    const parts = [
      { type: 'reasoning', content: 'Think.' },
      { type: 'text', content: 'Look:' },
      { type: 'blob', modality: 'image', mime_type: 'image/png', content: 'iVBO' },
      { type: 'uri', modality: 'image', uri: 'https://example.com/a.png' },
      audio,
    ]
    deepStrictEqual(inputs(genAi(parts)), {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look:' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
            audio,
          ],
          reasoning_content: 'Think.',
        },
      ],
    })
  })

  it('have a message of each result of a tool', () => {
    const parts = [
      { type: 'tool_call_response', id: 'a', result: 'one' },
      { type: 'tool_call_response', id: 'b', response: { two: 2 } },
      { type: 'text', content: 'go on' },
    ]
    deepStrictEqual(inputs(genAi(parts))['messages'], [
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: '{"two":2}' },
      { role: 'user', content: 'go on' },
    ])
  })

  it('may be attributes that are lists, not JSON', () => {
    const attributes = {
      'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'hi' }] }],
    }
    deepStrictEqual(inputs(attributes), { messages: [{ role: 'user', content: 'hi' }] })
  })

  it('are the text of truncated JSON', () => {
    const text = '[{"role":"user","parts":[{"type":"text","conte'
    deepStrictEqual(inputs({ 'gen_ai.input.messages': text }), { input: text })
  })

  it('are the arguments of a tool, even if they look like messages', () => {
    const args = { messages: [{ role: 'user', content: 'hi' }] }
    deepStrictEqual(
      inputs({ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.call.arguments': JSON.stringify(args) }),
      args,
    )
  })

  for (const value of [0, false, '', []])
    it(`may be ${JSON.stringify(value)}`, () => {
      deepStrictEqual(inputs({ 'input.value': value }), { input: value })
      deepStrictEqual(output({ 'output.value': value }), value)
    })

  it('are JSON text where OpenInference says that it is text', () => {
    deepStrictEqual(inputs({ 'input.value': '{"a":1}', 'input.mime_type': 'text/plain' }), {
      input: '{"a":1}',
    })
    deepStrictEqual(inputs({ 'input.value': '{"a":1}', 'input.mime_type': 'application/json' }), { a: 1 })
  })

  it('are the messages that are left of 200 where attributes were dropped', () => {
    const messages = Array.from({ length: 200 }, (_, n) => ({ role: 'user', content: `message ${n}` }))
    const all = Object.entries(flattened('gen_ai.prompt', messages)).slice(-128)
    deepStrictEqual(inputs(Object.fromEntries(all)), { messages: messages.slice(-64) })
  })

  it('keep whole messages of OpenInference with images and tool calls', () => {
    const messages = [
      {
        message: {
          role: 'user',
          contents: [
            { message_content: { type: 'text', text: 'Look:' } },
            { message_content: { type: 'image', image: { image: { url: 'https://example.com/a.png' } } } },
          ],
        },
      },
      {
        message: {
          role: 'assistant',
          tool_calls: [{ tool_call: { id: 'c', function: { name: 'f', arguments: '{}' } } }],
        },
      },
    ]
    deepStrictEqual(inputs(flattened('llm.input_messages', messages)), {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look:' },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
      ],
    })
  })

  it('are messages of LangChain', () => {
    const message = (name: string, kwargs: JsonObject) => ({
      lc: 1,
      type: 'constructor',
      id: ['langchain', name],
      kwargs,
    })
    const messages = [
      [
        message('HumanMessage', { type: 'human', content: 'hi' }),
        message('AIMessage', {
          type: 'ai',
          content: '',
          tool_calls: [{ name: 'f', args: { a: 1 }, id: 'c', type: 'tool_call' }],
        }),
      ],
    ]
    deepStrictEqual(inputs({ 'input.value': JSON.stringify({ messages }) }), {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
        },
      ],
    })
  })

  it('are those of events, and of attributes where both have them', () => {
    const events = [
      anEvent('gen_ai.system.message', { content: 'Be brief.' }),
      anEvent('gen_ai.user.message', { content: 'hi' }),
      anEvent('gen_ai.choice', { index: 0, message: '{"role":"assistant","content":"Hello."}' }),
    ]
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ]
    const answer = { role: 'assistant', content: 'Hello.' }
    const ofEvents = meaning({}, { events })
    deepStrictEqual([ofEvents.inputs, ofEvents.output], [{ messages }, answer])
    const both = meaning(genAi([{ type: 'text', content: 'hi' }]), { events })
    deepStrictEqual([both.inputs, both.output], [{ messages: [messages[1]] }, answer])
  })

  it('are those of Semantic Kernel, whose events hold whole messages', () => {
    const events = [
      anEvent('gen_ai.user.message', { 'gen_ai.event.content': '{"role":"user","content":"hi"}' }),
      anEvent('gen_ai.choice', {
        'gen_ai.event.content': '{"index":0,"message":{"role":"assistant","content":"Hello."}}',
      }),
    ]
    const { inputs: given, output: answer } = meaning({}, { events })
    deepStrictEqual(given, { messages: [{ role: 'user', content: 'hi' }] })
    deepStrictEqual(answer, { role: 'assistant', content: 'Hello.' })
  })

  it('are those of the event with details', () => {
    const attributes = {
      ...genAi([{ type: 'text', content: 'hi' }]),
      'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"Hello."}]}]',
    }
    const events = [anEvent('gen_ai.client.inference.operation.details', attributes)]
    const { inputs: given, output: answer } = meaning({}, { events })
    deepStrictEqual(given, { messages: [{ role: 'user', content: 'hi' }] })
    deepStrictEqual(answer, { role: 'assistant', content: 'Hello.' })
  })

  it('skip the empty requests of ADK', () => {
    const attributes = {
      'gcp.vertex.agent.llm_request': '{}',
      'gcp.vertex.agent.tool_call_args': '{"city":"Oslo"}',
    }
    deepStrictEqual(inputs(attributes), { city: 'Oslo' })
  })
})

describe('the output of a span', () => {
  it('has the choices of a model apart', () => {
    const choices = ['a', 'b'].map((content) => ({
      role: 'assistant',
      parts: [{ type: 'text', content }],
      finish_reason: 'stop',
    }))
    deepStrictEqual(output({ 'gen_ai.output.messages': JSON.stringify(choices) }), {
      choices: ['a', 'b'].map((content) => ({
        message: { role: 'assistant', content },
        finish_reason: 'stop',
      })),
    })
  })

  it('is a message where a model returned text', () => {
    const answer = { role: 'assistant', content: 'Hello.' }
    deepStrictEqual(output({ 'openinference.span.kind': 'LLM', 'output.value': 'Hello.' }), answer)
    deepStrictEqual(output({ 'openinference.span.kind': 'AGENT', 'output.value': 'Hello.' }), 'Hello.')
  })

  it('has the text, the reasoning and the tool calls of the AI SDK', () => {
    const attributes = {
      'ai.operationId': 'ai.generateText.doGenerate',
      'ai.response.text': 'Wait.',
      'ai.response.reasoning': 'Think.',
      'ai.response.toolCalls': '[{"toolCallId":"c","toolName":"f","args":{"a":1}}]',
    }
    deepStrictEqual(output(attributes), {
      role: 'assistant',
      content: 'Wait.',
      reasoning_content: 'Think.',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
    })
  })

  it('has the documents of a retrieval', () => {
    const documents = [{ document: { id: 'd1', content: 'one', score: 0.5 } }]
    deepStrictEqual(output(flattened('retrieval.documents', documents)), [
      { id: 'd1', content: 'one', score: 0.5 },
    ])
  })

  it('is null if there is none', () => {
    deepStrictEqual(output({ 'gen_ai.operation.name': 'chat' }), null)
  })
})
