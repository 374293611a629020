import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import {
  decodeJudgeModel,
  decodeMessagesPrompt,
} from '../../../../../src/domain/evaluations/scorers/judge-settings.js'
import { decodeScorer, type Scorer } from '../../../../../src/domain/evaluations/scorers/scorer.js'
import type { Json, JsonObject } from '../../../../../src/kernel/json/json.js'
import { arbitraryModestJson, arbitraryModestObject } from '../../../../support/arbitrary-json.js'

const REF = 'weave:///team/project/object/my-scorer:abc'

const decoded = (val: JsonObject, ref = REF): Scorer => {
  const result = decodeScorer(ref, val)
  return E.isRight(result) ? result.right : assert.fail(result.left)
}

const errorOf = (val: Json): string => {
  const result = decodeScorer(REF, val)
  return E.isLeft(result) ? result.left : assert.fail('the scorer decoded')
}

/** What every object of a Python class has besides its own fields. */
const python = (className: string, fields: JsonObject = {}): JsonObject => ({
  _type: className,
  name: null,
  description: null,
  column_map: null,
  score: `weave:///team/project/op/${className}.score:123`,
  summarize: 'weave:///team/project/op/Scorer.summarize:456',
  _class_name: className,
  _bases: ['Scorer', 'Object', 'BaseModel'],
  ...fields,
})

describe('decodeScorer', () => {
  it('decodes a built-in scorer with its defaults', () => {
    assert.deepEqual(decoded({ _class_name: 'ContainsScorer', column_map: { target: 'keyword' } }), {
      kind: 'built-in',
      className: 'ContainsScorer',
      name: 'my-scorer',
      ref: REF,
      columnMap: { target: 'keyword' },
      settings: { ignore_case: false, values: null, match: 'all' },
    })
  })

  it('decodes the scorers of the Python SDK that run here', () => {
    for (const className of ['StringMatchScorer', 'LevenshteinScorer', 'ValidJSONScorer'])
      assert.equal(decoded(python(className)).kind, 'built-in', className)
  })

  it('decodes other scorers of an SDK and ops as code', () => {
    assert.deepEqual(decoded(python('MyScorer', { threshold: 1 })), {
      kind: 'code',
      className: 'MyScorer',
      name: 'my-scorer',
      ref: REF,
      columnMap: {},
    })
    const op = { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: {} }
    assert.deepEqual(decoded(op, 'weave:///team/project/op/is-equal:1'), {
      kind: 'code',
      className: 'Op',
      name: 'is-equal',
      ref: 'weave:///team/project/op/is-equal:1',
      columnMap: {},
    })
  })

  it("does not run a user's class that has the name of a built-in scorer", () => {
    assert.equal(decoded(python('ExactMatchScorer')).kind, 'code')
    assert.equal(decoded(python('HTTPScorer')).kind, 'code')
  })

  it('names a scorer by its name, else its object id, else its class, as the SDKs do', () => {
    const nameOf = (name: string | null, ref = REF) =>
      decoded({ _class_name: 'ValidJSONScorer', name }, ref).name
    assert.equal(nameOf('My  scorer (v2)!'), 'My-scorer-v2')
    assert.equal(nameOf('日本 語'), '日本-語')
    assert.equal(nameOf('..a'), 'a')
    assert.equal(nameOf('!!'), 'my-scorer')
    assert.equal(nameOf('x'.repeat(200)), 'x'.repeat(128))
    assert.equal(nameOf(null), 'my-scorer')
    assert.equal(nameOf(null, 'not a reference'), 'ValidJSONScorer')
  })

  it('names the field that has the wrong type', () => {
    const prefix = (className: string) => `${className} ${REF}: `
    assert.equal(
      errorOf({ _class_name: 'ExactMatchScorer', ignore_case: 'yes' }),
      `${prefix('ExactMatchScorer')}ignore_case: Input should be a valid boolean`,
    )
    assert.equal(errorOf({ _class_name: 'RegexScorer' }), `${prefix('RegexScorer')}pattern: Field required`)
    assert.equal(
      errorOf({ _class_name: 'NumericToleranceScorer', relative_tolerance: -1 }),
      `${prefix('NumericToleranceScorer')}relative_tolerance: Input should be a number that is not negative`,
    )
    assert.match(
      errorOf({ _class_name: 'JSONSchemaScorer', schema: [] }),
      /: schema: Input should be a JSON Schema/,
    )
    assert.match(errorOf({ _class_name: 'ContainsScorer', values: [1] }), /: values\.0: .*valid string/)
    assert.match(errorOf({ _class_name: 'RegexScorer', pattern: 'a', name: 1 }), /: name: .*valid string/)
    assert.match(
      errorOf({ _class_name: 'RegexScorer', pattern: 'a', column_map: { output: 1 } }),
      /: column_map\.output: .*valid string/,
    )
    assert.match(
      errorOf({ _class_name: 'RegexScorer', pattern: 'a', column_map: { target: 'x' } }),
      /: column_map: the scorer has no argument "target", only output$/,
    )
  })

  it('refuses an object that is not a scorer', () => {
    assert.equal(errorOf('text'), `${REF} is not a scorer: its value is not an object`)
    assert.equal(errorOf({}), `Object ${REF}: the object is not a scorer`)
    assert.match(
      errorOf({ _class_name: 'Dataset', _bases: ['Object', 'BaseModel'] }),
      /^Dataset .* not a scorer$/,
    )
  })

  it('decodes an LLM judge with its model in place', () => {
    const judge = decoded({
      _class_name: 'LLMAsAJudgeScorer',
      _bases: ['Scorer', 'Object', 'BaseModel'],
      model: {
        _class_name: 'LLMStructuredCompletionModel',
        llm_model_id: 'openai/gpt-4o',
        default_params: {
          messages_template: [{ role: 'system', content: 'Judge.' }],
          temperature: 0,
          response_format: 'json_object',
        },
      },
      scoring_prompt: 'Is {output} right?',
    })
    assert.ok(judge.kind === 'llm-judge')
    const { model, scoring_prompt } = judge.settings
    assert.deepEqual(scoring_prompt, { kind: 'text', text: 'Is {output} right?' })
    assert.ok(model.kind === 'inline')
    assert.equal(model.value.llm_model_id, 'openai/gpt-4o')
    assert.equal(model.value.default_params?.response_format, 'json_object')
    assert.equal(model.value.default_params.temperature, 0)
  })

  it('decodes an LLM judge whose model and prompt are references', () => {
    const model = 'weave:///team/project/object/model:1'
    const prompt = 'weave:///team/project/object/prompt:2'
    const judge = decoded(python('LLMAsAJudgeScorer', { model, scoring_prompt: prompt }))
    assert.ok(judge.kind === 'llm-judge')
    assert.deepEqual(judge.settings.model, { kind: 'ref', ref: model })
    assert.deepEqual(judge.settings.scoring_prompt, { kind: 'ref', ref: prompt })
    assert.deepEqual(decodeMessagesPrompt({ messages: [{ role: 'user', content: '{output}' }] }), {
      _tag: 'Right',
      right: { messages: [{ role: 'user', content: '{output}' }] },
    })
    assert.deepEqual(decodeJudgeModel({ llm_model_id: 1 }), {
      _tag: 'Left',
      left: 'LLMStructuredCompletionModel.llm_model_id: Input should be a valid string',
    })
  })

  it('names the wrong field of an LLM judge', () => {
    const judge = (fields: JsonObject) => ({ _class_name: 'LLMAsAJudgeScorer', ...fields })
    assert.match(
      errorOf(judge({ model: 'gpt', scoring_prompt: '' })),
      /: model: Input should be an object or a ref/,
    )
    assert.match(
      errorOf(judge({ model: { llm_model_id: 'a', default_params: { stop: [1] } }, scoring_prompt: '' })),
      /: model\.default_params\.stop\.0: /,
    )
    assert.match(
      errorOf(judge({ model: { llm_model_id: 'a' }, scoring_prompt: { messages: [{ content: '' }] } })),
      /: scoring_prompt\.messages\.0: Input should be a message/,
    )
  })

  it('decodes an HTTP scorer with its defaults and bounds', () => {
    const http = { _class_name: 'HTTPScorer', url: 'https://example.com/score', secret: 'scoring' }
    const scorer = decoded(http)
    assert.ok(scorer.kind === 'http')
    assert.deepEqual(scorer.settings, {
      url: 'https://example.com/score',
      secret: 'scoring',
      timeout_s: 30,
      max_concurrency: 4,
      max_per_second: null,
    })
    assert.match(errorOf({ ...http, timeout_s: 301 }), /: timeout_s: .*at most 300/)
    assert.match(errorOf({ ...http, timeout_s: 0 }), /: timeout_s: /)
    assert.match(errorOf({ ...http, max_concurrency: 65 }), /: max_concurrency: /)
    assert.match(errorOf({ ...http, max_per_second: 0 }), /: max_per_second: /)
    assert.match(errorOf({ ...http, url: 'ftp://example.com' }), /: url: /)
    assert.match(errorOf({ ...http, url: 'https://user:pass@example.com' }), /: url: /)
    assert.match(errorOf({ ...http, secret: null }), /: secret: /)
  })

  it('never throws', () => {
    const className = fc.constantFrom(
      'RegexScorer',
      'JSONSchemaScorer',
      'LLMAsAJudgeScorer',
      'HTTPScorer',
      'X',
    )
    const field = fc.constantFrom(
      'model',
      'scoring_prompt',
      'schema',
      'pattern',
      'name',
      'column_map',
      '_bases',
    )
    const given = fc.dictionary(field, arbitraryModestJson)
    fc.assert(
      fc.property(className, given, arbitraryModestObject, (_class_name, fields, more) => {
        decodeScorer(REF, { ...more, ...fields, _class_name })
      }),
    )
  })
})
