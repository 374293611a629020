import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  type NameCommand,
  type TakeName,
  ownerOf,
  namesAfter,
  namesDecider,
} from '../../../../../src/domain/webhooks/names/names.js'
import { deciding } from '../../../../support/decided.js'

const { decide } = namesDecider

const thing = (name: string, id: string, kind: TakeName['kind'] = 'webhook') => ({
  team: 't',
  kind,
  name,
  id,
})
const take = (name: string, id: string, from: string | null = null): NameCommand => ({
  type: 'TakeName',
  ...thing(name, id),
  from,
})
const release = (name: string, id: string): NameCommand => ({ type: 'ReleaseName', ...thing(name, id) })

const given = deciding(namesDecider)

describe('a name', () => {
  it('is taken once, by the first', () => {
    assert.deepEqual(given(take('a', '1')).events, [{ type: 'NameTaken', data: thing('a', '1') }])
    const { events, refused, state } = given(take('a', '1'), take('a', '2'))
    assert.deepEqual([events, refused?.kind, ownerOf(state, 'webhook', 'a')], [[], 'conflict', '1'])
  })

  it('is one of a webhook and one of an automation', () => {
    const automation: NameCommand = { type: 'TakeName', ...thing('a', '1', 'automation'), from: null }
    const { events, state } = given(take('a', '1'), automation)
    assert.equal(events.length, 1)
    assert.deepEqual([...namesAfter(state, 'automation')], [{ name: 'a', id: '1' }])
  })

  it('may be taken from a thing that does not use it', () => {
    const { events, state } = given(take('a', '1'), take('a', '2', '1'))
    assert.deepEqual(
      events.map(({ type, data }) => [type, data.id]),
      [
        ['NameReleased', '1'],
        ['NameTaken', '2'],
      ],
    )
    assert.equal(ownerOf(state, 'webhook', 'a'), '2')
    assert.equal(given(take('a', '1'), take('a', '2', '3')).refused?.kind, 'conflict')
  })

  it('is free once it is released, by the one that has it', () => {
    const { state } = given(take('a', '1'), release('a', '1'))
    assert.equal(ownerOf(state, 'webhook', 'a'), undefined)
    assert.deepEqual(given(take('a', '1'), release('a', '2')).events, [])
    assert.equal(given(take('a', '1'), release('a', '1'), take('a', '2')).events.length, 1)
  })

  it('is listed in its order, page by page', () => {
    const { state } = given(take('b', '2'), take('a', '1'), take('c', '3'), release('b', '2'))
    assert.deepEqual(
      [...namesAfter(state, 'webhook')].map(({ name }) => name),
      ['a', 'c'],
    )
    assert.deepEqual(
      [...namesAfter(state, 'webhook', 'a')].map(({ name }) => name),
      ['c'],
    )
  })

  it('stands for one thing at most, and a repeat writes nothing, whatever is asked', () => {
    const command = fc
      .tuple(
        fc.constantFrom('a', 'b'),
        fc.constantFrom('1', '2'),
        fc.constantFrom(null, '1', '2', false as const),
      )
      .map(([name, id, from]) => (from === false ? release(name, id) : take(name, id, from)))
    fc.assert(
      fc.property(fc.array(command, { minLength: 1, maxLength: 12 }), (commands) => {
        const { state } = given(...commands)
        const names = [...namesAfter(state, 'webhook')].map(({ name }) => name)
        assert.equal(new Set(names).size, names.length)
        const last = commands.at(-1)!
        assert.deepEqual(decide(state, last).events, [])
      }),
    )
  })
})
