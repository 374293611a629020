import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { answerIn, judgeRequest, modelRequest, type Judge } from '../../../../src/domain/evaluations/judge.js'
import { decodeJudgeModel } from '../../../../src/domain/evaluations/scorers/judge-settings.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'

const modelOf = (default_params: JsonObject = {}) => {
  const model = decodeJudgeModel({ llm_model_id: 'openai/gpt-4o', default_params })
  assert.ok(E.isRight(model), JSON.stringify(model))
  return model.right
}

const judgeOf = (more: Partial<Judge> = {}): Judge => ({
  model: modelOf(),
  preamble: [],
  prompt: [{ role: 'user', content: 'Is {output} right?' }],
  ...more,
})

const right = <A>(either: E.Either<string, A>): A => {
  assert.ok(E.isRight(either), JSON.stringify(either))
  return either.right
}

describe('the request of a judge', () => {
  it('has the messages of the model as they are, then the filled prompt', () => {
    const preamble = [{ role: 'system', content: 'Answer as {"ok": true}.' }]
    assert.deepEqual(right(judgeRequest(judgeOf({ preamble }), { output: 'Paris' })), {
      messages: [...preamble, { role: 'user', content: 'Is Paris right?' }],
    })
  })

  it('fills the text parts of a message and keeps its other fields', () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/{output}.png' } }
    const prompt = [
      { role: 'user', name: '{output}', content: [{ type: 'text', text: 'See {output}' }, image] },
      { role: 'assistant', content: null },
    ]
    assert.deepEqual(right(judgeRequest(judgeOf({ prompt }), { output: 'Paris' }))['messages'], [
      { role: 'user', name: '{output}', content: [{ type: 'text', text: 'See Paris' }, image] },
      { role: 'assistant', content: null },
    ])
  })

  it('passes the parameters of the model that are set', () => {
    const model = modelOf({
      temperature: 0,
      top_p: 0.5,
      max_tokens: 10,
      presence_penalty: 0,
      frequency_penalty: null,
      stop: [],
      functions: [],
      n_times: 2,
      response_format: 'json_object',
    })
    const { messages: _, ...parameters } = right(judgeRequest(judgeOf({ model }), { output: '' }))
    assert.deepEqual(parameters, {
      temperature: 0,
      top_p: 0.5,
      max_tokens: 10,
      presence_penalty: 0,
      n: 2,
      response_format: { type: 'json_object' },
    })
  })

  it('fails where the row has no value for the prompt, in text and in parts', () => {
    assert.deepEqual(judgeRequest(judgeOf(), {}), E.left('the row has no value for {output} of the prompt'))
    const prompt = [{ role: 'user', content: [{ type: 'text', text: '{question}' }] }]
    assert.ok(E.isLeft(judgeRequest(judgeOf({ prompt }), { output: '' })))
  })
})

describe('the request of a model about an example', () => {
  const messagesFor = (example: Json, templates: Judge['prompt'] = []) =>
    E.map((request: JsonObject) => request['messages'])(modelRequest(modelOf(), templates, example))

  it('has its own messages and those of the column user_input', () => {
    const system = [{ role: 'system', content: 'In {language}.' }]
    assert.deepEqual(right(messagesFor({ user_input: 'Hi', language: 'German' }, system)), [
      { role: 'system', content: 'In German.' },
      { role: 'user', content: 'Hi' },
    ])
    const given = [{ role: 'user', content: 'a' }, 'b']
    assert.deepEqual(right(messagesFor({ user_input: given })), [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ])
  })

  it('takes an example that is no object as the input', () => {
    assert.deepEqual(right(messagesFor('Hi')), [{ role: 'user', content: 'Hi' }])
    assert.deepEqual(right(messagesFor(7)), [{ role: 'user', content: '7' }])
  })

  it('fails where there is nothing to ask', () => {
    assert.match(JSON.stringify(messagesFor({ question: 'Hi' })), /no column user_input/)
  })
})

describe('the answer of a judge', () => {
  const completion = (content: Json): JsonObject => ({
    choices: [{ index: 0, message: { role: 'assistant', content } }],
  })

  it('is the text, or the JSON in it where JSON was asked for', () => {
    const verdict = '{"correct": true, "reason": "It is Paris."}'
    assert.deepEqual(answerIn(completion(verdict), 'json_object'), {
      value: { correct: true, reason: 'It is Paris.' },
    })
    for (const format of ['text', 'json_schema', null] as const)
      assert.deepEqual(answerIn(completion(verdict), format), { value: verdict })
  })

  it('is a failure where it is not JSON, or nests too deep', () => {
    for (const text of ['Yes.', '', '{"a":', `${'['.repeat(5000)}${']'.repeat(5000)}`])
      assert.match(
        JSON.stringify(answerIn(completion(text), 'json_object')),
        /answered with text that is not JSON/,
      )
  })

  it('is a failure where the completion has no text', () => {
    const odd: readonly JsonObject[] = [
      {},
      { choices: [] },
      { choices: 'none' },
      { choices: [null] },
      { choices: [{ message: 'Hi' }] },
      completion(null),
      completion([]),
    ]
    for (const one of odd)
      assert.deepEqual(answerIn(one, null), { failed: 'the model answered without text' })
  })
})
