import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { trainingClientOf } from './given.js'

interface Completion {
  readonly choices: readonly {
    readonly message: { readonly content: string }
    readonly token_ids: readonly number[]
    readonly logprobs: {
      readonly content: readonly {
        readonly token: string
        readonly logprob: number
        readonly top_logprobs: readonly { readonly token: string; readonly logprob: number }[]
      }[]
    }
  }[]
}

describe('options of a completion of the engine', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  const ask = (options: object) =>
    service.post('/v1/chat/completions', {
      model: 'tiny/byte',
      messages: [{ role: 'user', content: 'hi' }],
      max_tokens: 6,
      ...options,
    })
  const tokensOf = async (options: object) => {
    const answer = await ask(options)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Completion>().choices.map(({ token_ids }) => token_ids)
  }

  it('change what is sampled', async () => {
    assert.deepEqual(await tokensOf({ logit_bias: { 65: 100 } }), [[65, 65, 65, 65, 65, 65]])
    const greedy = await tokensOf({ temperature: 0 })
    for (const options of [{ top_k: 1 }, { min_p: 1 }, { top_p: 0 }])
      assert.deepEqual(await tokensOf(options), greedy, JSON.stringify(options))
    const biased = { temperature: 0, logit_bias: { 65: 100, 66: 99 }, max_tokens: 4 }
    assert.deepEqual(await tokensOf({ ...biased, frequency_penalty: 2 }), [[65, 66, 65, 66]])
    assert.deepEqual(await tokensOf({ ...biased, repetition_penalty: 2, max_tokens: 2 }), [[65, 66]])
    assert.deepEqual(await tokensOf({ ...biased, presence_penalty: -2 }), [[65, 65, 65, 65]])
  })

  it('tell the most probable tokens with top_logprobs', async () => {
    for (const asked of [
      { top_logprobs: 5, logprobs: true },
      { top_logprobs: 1, return_tokens_as_token_ids: true },
    ]) {
      const { choices } = (await ask({ ...asked, temperature: 0 })).json<Completion>()
      for (const { token, logprob, top_logprobs } of choices[0]!.logprobs.content) {
        assert.equal(top_logprobs.length, asked.top_logprobs)
        assert.deepEqual([top_logprobs[0]!.token, top_logprobs[0]!.logprob], [token, logprob])
      }
    }
  })

  it('are accepted at their defaults and where they change nothing', async () => {
    const plain = await tokensOf({ seed: 3 })
    const options = {
      ...{ presence_penalty: 0, frequency_penalty: 0, repetition_penalty: 1, top_k: -1, min_p: 0, top_p: 1 },
      ...{
        logit_bias: {},
        logprobs: false,
        tool_choice: 'auto',
        response_format: { type: 'text' },
        ignore_eos: false,
      },
      ...{ chat_template_kwargs: { preserve_thinking: true }, nvext: { extra_fields: ['engine_data'] } },
      ...{
        return_token_ids: true,
        user: 'me',
        metadata: { a: 'b' },
        stream_options: null,
        guided_json: null,
      },
      ...{ tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }], stop: [] },
    }
    assert.deepEqual(await tokensOf({ seed: 3, ...options }), plain)
    assert.deepEqual(await tokensOf({ seed: 3, top_k: 0 }), plain)
    for (const [name, value] of Object.entries(options)) await tokensOf({ [name]: value })
  })

  it('are refused by name where the engine does not have them, or their value is out of range', async () => {
    const refused: readonly (readonly [string, unknown])[] = [
      ['tool_choice', 'required'],
      ['tool_choice', { type: 'function', function: { name: 'f' } }],
      ['function_call', { name: 'f' }],
      ['response_format', { type: 'json_object' }],
      ['response_format', { type: 'json_schema', json_schema: { name: 'x', schema: {} } }],
      ['guided_json', {}],
      ['guided_regex', 'a'],
      ['guided_choice', ['a']],
      ['structured_outputs', { regex: 'a' }],
      ['prompt_logprobs', 1],
      ['prompt_logprobs', 0],
      ['ignore_eos', true],
      ['min_tokens', 3],
      ['stop_token_ids', [65]],
      ['bad_words', ['a']],
      ['best_of', 2],
      ['reasoning_effort', 'high'],
      ['modalities', ['audio']],
      ['audio', { voice: 'x' }],
      ['web_search_options', {}],
      ['banana', 1],
      ['nvext.ignore_eos', undefined],
      ['top_k', 1.5],
      ['top_k', -2],
      ['top_k', '5'],
      ['min_p', 1.1],
      ['repetition_penalty', 0],
      ['repetition_penalty', -1],
      ['presence_penalty', 2.1],
      ['frequency_penalty', -2.1],
      ['temperature', 2.5],
      ['top_p', -0.1],
      ['top_logprobs', 21],
      ['top_logprobs', 1.5],
      ['logprobs', 5],
      ['logit_bias', { 264: 1 }],
      ['logit_bias', { '-1': 1 }],
      ['logit_bias', { a: 1 }],
      ['logit_bias', { 65: 101 }],
      ['logit_bias', { 65: '1' }],
      ['logit_bias', [65]],
      ['seed', 1.5],
      ['max_tokens', 0],
      ['max_completion_tokens', 0],
      ['messages.0.role', undefined],
    ]
    for (const [param, value] of refused) {
      const options =
        param === 'nvext.ignore_eos'
          ? { nvext: { ignore_eos: true } }
          : param === 'messages.0.role'
            ? { messages: [{ role: 'banana', content: 'x' }] }
            : { [param]: value }
      const { status, text } = await ask(options)
      const { error } = JSON.parse(text) as { error: { param: string; message: string } }
      assert.deepEqual([status, error.param], [400, param], `${JSON.stringify(options)}: ${text}`)
      assert.ok(error.message.startsWith(`${param}: `), text)
    }
    assert.match((await ask({ temprature: 1 })).text, /Did you mean temperature\?/)
  })

  it('give the choices of neighbouring seeds nothing in common', async () => {
    const all = (await Promise.all([1, 2, 3].map((seed) => tokensOf({ seed, n: 4, max_tokens: 12 })))).flat()
    assert.equal(new Set(all.map(String)).size, 12)
    assert.deepEqual(await tokensOf({ seed: 2, n: 4, max_tokens: 12 }), all.slice(4, 8))
  })
})

describe('options of a training job of the engine', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  it('have a range, and unknown ones are refused by name', async () => {
    const client = trainingClientOf(service, someProject())
    const model_id = (await client.createModel('agent'))['id'] as string
    const create = (experimental_config: object) =>
      client.post('/training-jobs', { model_id, trajectory_groups: [], experimental_config })
    for (const [name, values] of Object.entries({
      learning_rate: [-1, '1', -1e-9],
      epsilon: [-5],
      epsilon_high: [-0.1],
      advantage_balance: [7, -1.01],
      kimi_k2_tau: [-1],
      max_negative_advantage_importance_sampling_weight: [0, -1],
      truncated_importance_sampling: [0, -1],
      importance_sampling_level: ['word'],
      loss_fn: ['dpo'],
      mask_prob_ratio: [1],
      logprob_calculation_chunk_size: ['x'],
      kl_penalty_coef: [0.1],
      adam_params: [{}],
      banana: [1, 0, false],
    }))
      for (const value of values) {
        const { status, text } = await create({ [name]: value })
        assert.equal(status, 422, `${name} ${JSON.stringify(value)}: ${text}`)
        assert.ok(text.includes(`"experimental_config","${name}"`), text)
      }
    assert.match(
      (await create({ lerning_rate: 1e-3 })).text,
      /no option lerning_rate. Did you mean learning_rate\?/,
    )
    for (const accepted of [
      {
        learning_rate: 0,
        epsilon: 0,
        advantage_balance: -1,
        kimi_k2_tau: 0,
        truncated_importance_sampling: 0.5,
      },
      { kl_penalty_coef: 0, plot_tensors: false, kl_penalty_source: 'sample', banana: null },
      { logprob_calculation_chunk_size: 1024, packed_sequence_length: null, precalculate_logprobs: true },
    ])
      assert.equal((await create(accepted)).status, 200, JSON.stringify(accepted))
  })

  it('of fine-tuning are refused by name when they are unknown', async () => {
    const client = trainingClientOf(service, someProject())
    const model_id = (await client.createModel('agent'))['id'] as string
    const create = (body: object) =>
      client.post('/sft-training-jobs', {
        model_id,
        training_data_url: 'wandb-artifact:///a/b/c:v0',
        ...body,
      })
    const { status, text } = await create({ config: { lerning_rate: 1 } })
    assert.equal(status, 422)
    assert.match(text, /config.*lerning_rate. Did you mean learning_rate/)
    assert.match((await create({ experimental_config: { warmup: 3 } })).text, /has no option warmup/)
    const config = { batch_size: 2, metric_logging: { enabled: true }, assistant_turns: 'all', banana: null }
    assert.equal((await create({ config, experimental_config: {} })).status, 404)
  })
})
