import assert from 'node:assert/strict'
import { compileRe2 } from '../../../../src/adapters/patterns/re2.js'
import { compileJsonSchema } from '../../../../src/adapters/scoring/json-schema.js'
import { threadCpuMs, withinTime } from '../../../../src/adapters/scoring/time-limit.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { itInFull } from '../../../counts.js'

const compile = compileJsonSchema(compileRe2)

const validate = (schema: JsonObject | boolean, value: Json): readonly string[] => {
  const compiled = compile(schema)
  return 'validate' in compiled ? compiled.validate(value) : assert.fail(compiled.error)
}

const errorOf = (schema: JsonObject): string => {
  const compiled = compile(schema)
  return 'error' in compiled ? compiled.error : assert.fail('the schema compiled')
}

describe('JSON schemas', () => {
  it('are of draft 2020-12, or of draft-07 where $schema names it', () => {
    assert.deepEqual(validate({ prefixItems: [{ type: 'string' }] }, [1]), ['/0 must be string'])
    const draft07 = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }
    assert.deepEqual(validate(draft07, [1]), ['/0 must be string'])
    assert.match(errorOf({ $schema: 'http://json-schema.org/draft-03/schema#' }), /^\$schema should be draft/)
    assert.deepEqual(validate(false, 1), ['/ boolean schema is false'])
  })

  it('with mistakes are refused', () => {
    assert.match(errorOf({ type: 'objekt' }), /^schema is invalid: /)
    assert.match(errorOf({ pattern: '(?=a)' }), /^Invalid pattern at character 1: /)
    assert.match(errorOf({ $async: true }), /not supported/)
    assert.match(errorOf({ $defs: { a: { $id: 'x', $async: true } }, $ref: 'x' }), /async/)
  })

  it('do not load other documents', () => {
    assert.match(errorOf({ $ref: 'https://example.com/schema.json' }), /^can't resolve reference/)
  })

  it('tell their patterns apart', () => {
    const schema = { patternProperties: { '^a': { pattern: '^x' }, '^b': { pattern: '^y' } } }
    assert.deepEqual(validate(schema, { a: 'x', b: 'y' }), [])
    assert.equal(validate(schema, { a: 'y' }).length, 1)
    assert.equal(validate(schema, { b: 'x' }).length, 1)
  })

  it('look at own members only', () => {
    assert.deepEqual(validate({ required: ['toString'] }, {}), ["/ must have required property 'toString'"])
  })

  it('that would validate for hours are interrupted', () => {
    const $defs: Record<string, Json> = { a40: { type: 'string' } }
    for (let at = 0; at < 40; at += 1) {
      const next = { $ref: `#/$defs/a${at + 1}` }
      $defs[`a${at}`] = { allOf: [next, next] }
    }
    assert.deepEqual(
      withinTime(() => validate({ $defs, $ref: '#/$defs/a0' }, 'x')),
      { error: 'took longer than 250 ms of CPU time' },
    )
    assert.ok('error' in withinTime(() => validate({ $ref: '#' }, 'x')))
  })

  itInFull('that would compile for minutes are interrupted', async () => {
    const patternProperties = Object.fromEntries(
      Array.from({ length: 2_500 }, (_, at) => [`p${at}`, { type: 'string' }]),
    )
    assert.match(errorOf({ patternProperties }), /took longer than 2000 ms|call stack/)
  })
})

describe('withinTime', () => {
  it('returns the value, or what was thrown as an error', () => {
    assert.deepEqual(
      withinTime(() => 7),
      { value: 7 },
    )
    assert.deepEqual(
      withinTime(() => assert.fail('no')),
      { error: 'no' },
    )
  })

  it('interrupts a loop that does not end', () => {
    assert.deepEqual(
      withinTime(() => {
        for (;;);
      }),
      { error: 'took longer than 250 ms of CPU time' },
    )
    assert.deepEqual(
      withinTime(() => 7),
      { value: 7 },
    )
  })

  it('runs work again that waited for a CPU, until it had the CPU time of the limit', () => {
    const clock = [0, 10, 10, 20, 20, 30]
    let runs = 0
    const slowTwice = () => {
      runs += 1
      if (runs < 3) for (;;);
      return runs
    }
    assert.deepEqual(
      withinTime(slowTwice, 20, () => clock.shift()!),
      { value: 3 },
    )
    const busy = [0, 10, 10, 30]
    assert.deepEqual(
      withinTime(
        () => {
          for (;;);
        },
        20,
        () => busy.shift()!,
      ),
      { error: 'took longer than 20 ms of CPU time' },
    )
  })

  it('measures CPU time and not the time that the thread sleeps', () => {
    const began = threadCpuMs()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    assert.ok(threadCpuMs() - began < 150)
    for (const before = threadCpuMs(); threadCpuMs() - before < 20;);
  })
})
