import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import * as E from 'fp-ts/lib/Either.js'
import { scoringTools } from '../../../../src/composition/scoring-tools.js'
import { builtinClasses } from '../../../../src/domain/objects/builtin-classes.js'
import { classesOf } from '../../../../src/domain/objects/classes.js'
import { weaveText } from '../../../../src/domain/objects/weave-digest.js'
import { decode } from '../../../../src/kernel/codec/codec.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'

const classes = builtinClasses(scoringTools)

const completed = (className: string, value: Json) => decode(classes.get(className)!)(value)

const textOf = (result: E.Either<unknown, JsonObject>): string | null =>
  E.isRight(result) ? weaveText(result.right) : null

/** Class, value, and the value as the registry of Python `weave` 0.54 completes it, or null if it refuses the value. */
const examples = readFileSync(new URL('builtin-classes.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => parseJson(line) as unknown as readonly [string, Json, Json])

describe('builtinClasses', () => {
  for (const [className, value, expected] of examples)
    it(`${expected === null ? 'refuses' : 'completes'} ${className} ${JSON.stringify(value).slice(0, 200)}`, () => {
      const result = completed(className, value)
      assert.equal(textOf(result), expected === null ? null : weaveText(expected))
    })

  it('leaves a completed value as it is', () => {
    for (const [className, value] of examples) {
      const once = completed(className, value)
      if (E.isRight(once)) assert.equal(textOf(completed(className, once.right)), textOf(once))
    }
  })

  it('gives each class its own name and a base class', () => {
    for (const [className, , expected] of examples) {
      if (expected !== null) assert.equal(classesOf(expected).leaf_object_class, className)
    }
  })

  it('completes the actions of older clients', () => {
    const config = { action_type: 'contains_words', target_words: ['a'] }
    const result = completed('ActionSpec', { name: 'n', config })
    const nested = { _type: 'ContainsWordsActionConfig', _class_name: 'ContainsWordsActionConfig' }
    assert.deepEqual(
      result,
      E.right({
        _type: 'ActionSpec',
        name: 'n',
        description: null,
        config: { ...config, ...nested, _bases: ['BaseModel'] },
        _class_name: 'ActionSpec',
        _bases: ['BaseObject', 'BaseModel'],
      }),
    )
    for (const wrong of [
      { action_type: 'other' },
      { action_type: 'llm_judge', model: 'gpt-4o', prompt: 'p' },
      {},
    ])
      assert.ok(E.isLeft(completed('ActionSpec', { config: wrong })))
  })

  it('names the field that does not fit', () => {
    const locations = (className: string, value: Json) => {
      const result = completed(className, value)
      return E.isLeft(result) ? result.left.map(({ loc }) => loc.join('.')) : []
    }
    assert.deepEqual(locations('Leaderboard', { columns: [{ scorer_name: 1 }] }), [
      'columns.0.evaluation_object_ref',
      'columns.0.scorer_name',
      'columns.0.summary_metric_path',
    ])
    const view = (query: Json) => ({ view_type: 't', label: 'l', definition: { query } })
    assert.deepEqual(locations('SavedView', view({ $expr: { $eq: [{ $getField: 1 }, { $literal: 1 }] } })), [
      'definition.query.$expr.$eq.0.$getField',
    ])
    assert.deepEqual(locations('SavedView', 'text'), [''])
  })
})
