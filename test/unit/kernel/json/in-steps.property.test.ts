import assert from 'node:assert/strict'
import fc from 'fast-check'
import { canonicalJson } from '../../../../src/kernel/json/canonical.js'
import type { Json } from '../../../../src/kernel/json/json.js'
import { deeperThan, MAX_DEPTH } from '../../../../src/kernel/json/measure.js'
import {
  MOST_MEMBERS,
  MOST_VALUES,
  parseJsonInSteps,
  TooManyValues,
} from '../../../../src/kernel/json/parse-in-steps.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { canonicalJsonInSteps, jsonTextInSteps } from '../../../../src/kernel/json/text-in-steps.js'
import { pythonText, pythonTextInSteps } from '../../../../src/kernel/json/python-text.js'
import { jsonText } from '../../../../src/kernel/json/text.js'
import { wellFormed } from '../../../../src/kernel/json/well-formed.js'
import { COUNTS } from '../../../counts.js'

const token = fc.oneof(
  fc.constantFrom(
    'null',
    'true',
    '0',
    '1.0',
    '9007199254740993',
    'NaN',
    '-1e400',
    '""',
    '"\\"[{,"',
    '"a\\\\"',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(text)),
  fc.string({ unit: 'binary', minLength: 16, maxLength: 60 }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00\\ud83d"', '"\\\\ud83d\\ude00"'),
  fc.double().map(String),
)
const key = fc
  .oneof(fc.string({ maxLength: 4 }), fc.constantFrom('__proto__', 'a', 'b', '0', 'constructor'))
  .map((name) => JSON.stringify(name))
const blank = fc.constantFrom('', '', ' ', '\n\t')

const anyText = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    token,
    fc
      .tuple(blank, fc.array(tie('value'), { maxLength: 8 }))
      .map(([space, items]) => `[${space}${items.join(`${space},${space}`)}${space}]`),
    fc
      .tuple(blank, fc.array(fc.tuple(key, tie('value')), { maxLength: 8 }))
      .map(
        ([space, members]) =>
          `{${space}${members.map(([name, value]) => `${name}${space}:${value}`).join(`${space},`)}}`,
      ),
  ),
})).value

const step = fc.integer({ min: 1, max: 40 })

const outcome = async (parse: () => Json | Promise<Json>): Promise<unknown> => {
  try {
    const value = await parse()
    return { value, text: jsonText(value) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return 'syntax error'
  }
}

describe('JSON in steps', () => {
  it('parses to what parsing at once returns, with keys in the same order and all digits', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, step, async (text, characters) => {
        assert.deepEqual(
          await outcome(async () => (await parseJsonInSteps(text, { step: characters })).value),
          await outcome(() => wellFormed(parseJson(text))),
        )
      }),
      { numRuns: COUNTS.steppedTexts },
    )
  })

  it('keeps lone surrogates where halves of a pair may be in two texts', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, step, async (text, characters) => {
        const parsing = parseJsonInSteps(text, { step: characters, isWellFormed: false })
        assert.deepEqual(
          await outcome(async () => (await parsing).value),
          await outcome(() => parseJson(text)),
        )
      }),
      { numRuns: COUNTS.steppedTexts },
    )
  })

  it('has the same text and canonical text in steps', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, step, async (text, values) => {
        const parsing = await outcome(() => parseJson(text))
        if (parsing === 'syntax error') return
        const { value } = parsing as { readonly value: Json }
        assert.equal(await jsonTextInSteps(value, values), jsonText(value))
        assert.equal(await canonicalJsonInSteps(value, values), canonicalJson(value))
        const replace = (replaced: string) => replaced.replaceAll('a', 'ä\ud83d\ude00')
        for (const options of [{ sortKeys: true, replace }, { sortKeys: false }])
          assert.equal(await pythonTextInSteps(value, options, values), pythonText(value, options))
      }),
      { numRuns: COUNTS.steppedTexts },
    )
  })

  it('refuses the same texts', async () => {
    const broken = fc
      .tuple(
        anyText,
        fc.nat(),
        fc.nat({ max: 2 }),
        fc.constantFrom('', ',', '[', ']', '{', '}', ':', '"', ' ', '1', '\\'),
      )
      .map(([text, place, removed, added]) => {
        const at = place % (text.length + 1)
        return (text.slice(0, at) + added + text.slice(at + removed)).toWellFormed()
      })
    await fc.assert(
      fc.asyncProperty(broken, step, async (text, characters) => {
        assert.deepEqual(
          await outcome(async () => (await parseJsonInSteps(text, { step: characters })).value),
          await outcome(() => wellFormed(parseJson(text))),
        )
      }),
      { numRuns: COUNTS.steppedTexts },
    )
  })

  for (const text of [
    '[1,2,',
    '[1,,2]',
    '[[1,2,3],]',
    '{"a":[1,2,3],}',
    '{"a":5[1,2,3]}',
    '[1,2] [3]',
    '{[1,2,3]}',
    '[1,2}',
  ])
    it(`refuses ${text}`, async () => {
      await assert.rejects(parseJsonInSteps(text, { step: 2 }), SyntaxError)
    })

  it('reports the position of an error', async () => {
    await assert.rejects(
      parseJsonInSteps(`[${'1,'.repeat(50)}1 1]`, { step: 10 }),
      / in JSON at position 103$/,
    )
  })

  it('lets other work run in between', async () => {
    let turns = 0
    const counting = setInterval(() => (turns += 1), 0)
    await parseJsonInSteps(`[${'{},'.repeat(1_000_000)}{}]`)
    clearInterval(counting)
    assert.ok(turns > 1)
  })

  it('keeps text that is nested too deep as deep as is refused', async () => {
    const { value, isTooDeep } = await parseJsonInSteps(`{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)
    assert.ok(isTooDeep && deeperThan(value, MAX_DEPTH))
  })

  it('refuses more values, or more members of one object, than the limits', async () => {
    const members = (count: number) => `{${Array.from({ length: count }, (_, at) => `"key ${at}":0`).join()}}`
    await assert.rejects(parseJsonInSteps(`[${'0,'.repeat(MOST_VALUES)}0]`), TooManyValues)
    await assert.rejects(parseJsonInSteps(`[${members(MOST_MEMBERS + 1)}]`), TooManyValues)
    const { value } = await parseJsonInSteps(`[${members(MOST_MEMBERS)}]`)
    assert.equal(Object.keys((value as readonly object[])[0]!).length, MOST_MEMBERS)
  })
})
