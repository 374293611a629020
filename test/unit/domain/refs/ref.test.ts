import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Json } from '../../../../src/kernel/json/json.js'
import { callRef, parseRef, walk, type Edge } from '../../../../src/domain/refs/ref.js'
import { arbitraryJson } from '../../../support/arbitrary-json.js'

describe('a reference', () => {
  it('names an object or an op, a table, a call', () => {
    assert.deepEqual(parseRef('weave:///team/proj/object/my-ds:abc'), {
      projectId: 'team/proj',
      kind: 'object',
      objectId: 'my-ds',
      version: 'abc',
      edges: [],
    })
    assert.equal(parseRef('weave:///team/proj/op/Evaluation.evaluate:abc')?.kind, 'object')
    assert.deepEqual(parseRef('weave:///team/proj/table/abc'), {
      projectId: 'team/proj',
      kind: 'table',
      digest: 'abc',
      edges: [],
    })
    assert.deepEqual(parseRef(callRef('team/proj', 'c1')), {
      projectId: 'team/proj',
      kind: 'call',
      id: 'c1',
      edges: [],
    })
  })

  it('has a way into what it names, percent-encoded', () => {
    assert.deepEqual(
      parseRef('weave:///team/proj/object/o:abc/attr/rows/id/xyz/key/a%2Fb%20%25/index/3')?.edges,
      [
        { kind: 'attr', value: 'rows' },
        { kind: 'id', value: 'xyz' },
        { kind: 'key', value: 'a/b %' },
        { kind: 'index', value: '3' },
      ],
    )
    assert.deepEqual(parseRef('weave:///team/proj/object/o:abc/key/100%')?.edges, [
      { kind: 'key', value: '100%' },
    ])
  })

  for (const text of [
    '',
    'weave',
    'weave:///',
    'weave:///team',
    'weave:///team/proj',
    'weave:///team/proj/object',
    'weave:///team/proj/object/',
    'weave:///team/proj/object/unversioned',
    'weave:///team/proj/object/:abc',
    'weave:///team/proj/object/o:',
    'weave:///team/proj/unknown/o:abc',
    'weave:///team/proj/object/o:abc/attr',
    'weave:///team/proj/object/o:abc/slot/a',
    'weave:///te am/proj/object/o:abc',
    'wandb-artifact:///team/proj/o:v0',
  ])
    it(`is not ${JSON.stringify(text)}`, () => assert.equal(parseRef(text), undefined))

  it('is read or refused, whatever the text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseRef(`weave:///${text}`)))
  })
})

/** Every place in a value, by the edges that lead to it. */
const placesIn = (value: Json, way: readonly Edge[] = []): readonly (readonly [readonly Edge[], Json])[] => {
  const below = Array.isArray(value)
    ? (value as readonly Json[]).flatMap((item, index) =>
        placesIn(item, [...way, { kind: 'index', value: String(index) }]),
      )
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, item]) => placesIn(item, [...way, { kind: 'key', value: key }]))
      : []
  return [[way, value], ...below]
}

describe('a way into a value', () => {
  it('leads to each place of it, and from there nowhere by an edge that is not there', () => {
    fc.assert(
      fc.property(arbitraryJson, (value) => {
        for (const [way, reached] of placesIn(value)) {
          assert.deepEqual(walk(value, way), { kind: 'value', value: reached })
          if (typeof reached !== 'string')
            assert.deepEqual(walk(value, [...way, { kind: 'id', value: 'x' }]), { kind: 'nowhere' })
        }
      }),
      { numRuns: 200 },
    )
  })

  it('does not see what objects inherit', () => {
    for (const name of ['constructor', '__proto__', 'toString'])
      assert.deepEqual(walk({}, [{ kind: 'attr', value: name }]), { kind: 'nowhere' })
    assert.deepEqual(walk([1], [{ kind: 'index', value: '-1' }]), { kind: 'nowhere' })
    assert.deepEqual(walk([1], [{ kind: 'index', value: '1e0' }]), { kind: 'nowhere' })
  })

  it('goes on from a reference, whose own edges come first', () => {
    const value = { rows: 'weave:///team/proj/table/abc/index/0' }
    const walked = walk(value, [
      { kind: 'attr', value: 'rows' },
      { kind: 'key', value: 'a' },
    ])
    assert.deepEqual(walked, {
      kind: 'onwards',
      ref: {
        kind: 'table',
        projectId: 'team/proj',
        digest: 'abc',
        edges: [
          { kind: 'index', value: '0' },
          { kind: 'key', value: 'a' },
        ],
      },
    })
    assert.deepEqual(walk(value, [{ kind: 'attr', value: 'rows' }]), {
      kind: 'value',
      value: 'weave:///team/proj/table/abc/index/0',
    })
  })
})
