import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { baseClassIn, classesOf, kindOf } from '../../../../src/domain/objects/classes.js'
import type { Json } from '../../../../src/kernel/json/json.js'

const NONE = { base_object_class: null, leaf_object_class: null }

const serialised = (own: string, ...bases: readonly string[]) => ({ _class_name: own, _bases: bases })

describe('classesOf', () => {
  for (const root of ['Object', 'BaseObject']) {
    it(`takes the class itself as base class when it derives from ${root}`, () =>
      assert.deepEqual(classesOf(serialised('A', root, 'BaseModel')), {
        base_object_class: 'A',
        leaf_object_class: 'A',
      }))

    it(`takes the last base before ${root}`, () => {
      const bases = fc.array(fc.string({ minLength: 1 }), { minLength: 1 })
      fc.assert(
        fc.property(bases, (some) => {
          const found = classesOf(serialised('A', ...some, root, 'BaseModel'))
          assert.deepEqual(found, { base_object_class: some.at(-1), leaf_object_class: 'A' })
        }),
      )
    })
  }

  const others: readonly Json[] = [
    ...[null, 'text', [], {}, { _class_name: 'A' }, { _class_name: 'A', _bases: 'BaseObject' }],
    ...[
      serialised('A'),
      serialised('A', 'BaseModel'),
      serialised('A', 'Object'),
      serialised('A', 'BaseObject'),
    ],
    ...[serialised('A', 'BaseModel', 'BaseObject'), serialised('A', 'Object', 'BaseModel', 'Other')],
    ...[serialised('', 'Object', 'BaseModel'), { _class_name: 7, _bases: ['Object', 'BaseModel'] }],
    ...[{ _bases: ['Object', 'BaseModel'] }, serialised('A', 'Model', 'BaseModel')],
  ]
  for (const val of others)
    it(`finds no class in ${JSON.stringify(val)}`, () => assert.deepEqual(classesOf(val), NONE))
})

describe('baseClassIn', () => {
  it('reads the class of events that have BaseObject as base class', () => {
    const event = { base_object_class: 'BaseObject', leaf_object_class: 'AnnotationSpec' }
    assert.equal(baseClassIn(event), 'AnnotationSpec')
    assert.equal(baseClassIn({ ...event, base_object_class: 'Model' }), 'Model')
    assert.equal(baseClassIn(NONE), null)
  })
})

describe('kindOf', () => {
  it('is op for ops only', () => {
    const vals = [{ weave_type: { type: 'Op' } }, { _type: 'Op' }, { weave_type: 'Op' }, null, 'Op']
    assert.deepEqual(vals.map(kindOf), ['op', 'op', 'object', 'object', 'object'])
  })
})
