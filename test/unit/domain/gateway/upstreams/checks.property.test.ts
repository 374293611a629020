import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { UpstreamCommand } from '../../../../../src/domain/gateway/upstreams/commands.js'
import { upstreamDecider } from '../../../../../src/domain/gateway/upstreams/decider.js'
import {
  evolve,
  type Upstream,
  type Upstreams,
} from '../../../../../src/domain/gateway/upstreams/directory.js'
import { modelsOf, targetsOf } from '../../../../../src/domain/gateway/upstreams/offered.js'
import { aContent, aModel, someModels, someOwner } from './given.js'

const content = fc
  .record({ name: fc.constantFrom('one', 'two', 'three'), models: someModels, enabled: fc.boolean() })
  .map(aContent)

const command: fc.Arbitrary<UpstreamCommand> = fc
  .record({ id: fc.constantFrom('1', '2', '3', '4', '5'), team: someOwner, content, kind: fc.nat(4) })
  .map(({ id, team, content: whole, kind }): UpstreamCommand => {
    if (kind === 0) return { type: 'DeleteUpstream', id, team }
    if (kind === 1) return { type: 'ChangeUpstream', id, team, change: { models: whole.models } }
    return { type: 'CreateUpstream', id, team, content: whole }
  })

const after = (commands: readonly UpstreamCommand[], configured: Upstreams = new Map()): Upstreams => {
  const { decide } = upstreamDecider(configured)
  return commands.reduce(
    (upstreams, one) => decide(upstreams, one).events.reduce(evolve, upstreams),
    new Map(configured),
  )
}

/** The models that a name leads to, with their owners. */
const meanings = (upstreams: Upstreams, team: string, name: string): ReadonlySet<string> =>
  new Set(
    targetsOf(upstreams, [team], name).map(({ upstream, model }) => `${String(upstream.team)} ${model.id}`),
  )

const everyName = ['a', 'b', 'c', 'd']

describe('the names of models', () => {
  it('mean one thing to each team, whatever was asked for in whatever order', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
        const upstreams = after(commands)
        for (const team of ['red', 'blue'])
          for (const name of everyName) assert.ok(meanings(upstreams, team, name).size <= 1)
      }),
    )
  })

  it('mean one thing to each team also where the operator’s file came later', () => {
    const file = fc.array(content, { maxLength: 3 }).map((contents) => {
      const commands = contents.map((one, place) => ({
        type: 'CreateUpstream' as const,
        id: `file:${place}`,
        team: null,
        content: one,
      }))
      return new Map(
        [...after(commands)].map(([id, one]): [string, Upstream] => [id, { ...one, isConfigured: true }]),
      )
    })
    fc.assert(
      fc.property(fc.array(command, { maxLength: 20 }), file, (commands, configured) => {
        const upstreams = new Map([...after(commands), ...configured])
        for (const name of everyName)
          for (const team of ['red', 'blue']) {
            assert.ok(meanings(upstreams, team, name).size <= 1)
            const ofFile = meanings(configured, team, name)
            if (ofFile.size > 0) assert.deepEqual(meanings(upstreams, team, name), ofFile)
          }
      }),
    )
  })

  it('of another team neither take one, nor are seen', () => {
    fc.assert(
      fc.property(content, content, (red, blue) => {
        const [only] = [after([{ type: 'CreateUpstream', id: '2', team: 'blue', content: blue }])]
        const both = after([
          { type: 'CreateUpstream', id: '1', team: 'red', content: red },
          { type: 'CreateUpstream', id: '2', team: 'blue', content: blue },
        ])
        assert.deepEqual(both.get('2'), only.get('2'))
        assert.deepEqual(modelsOf(both, ['blue']), modelsOf(only, ['blue']))
      }),
    )
  })

  it('of a team do not prevent the operator from offering a model, which goes first', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 20 }), content, (commands, ofOperator) => {
        const create = { type: 'CreateUpstream', id: 'operator', team: null, content: ofOperator } as const
        const upstreams = after([
          ...commands.filter(({ team }) => team !== null),
          create,
          ...commands.filter(({ team }) => team !== null),
        ])
        assert.ok(upstreams.has('operator'))
        for (const { id } of ofOperator.enabled ? ofOperator.models : [])
          for (const team of ['red', 'blue'])
            assert.deepEqual(meanings(upstreams, team, id), new Set([`null ${id}`]))
      }),
    )
  })

  it('lead to targets of one owner, the one that is asked for where several have them', () => {
    const owned = (id: string, team: string | null): [string, Upstream] => [
      id,
      { id, team, content: aContent({ name: id }) },
    ]
    const teams = new Map([owned('1', 'blue'), owned('2', 'red'), owned('3', 'red')])
    const idsFor = (team: string | undefined, seen: 'all' | string[]) =>
      targetsOf(teams, seen, 'chat', team).map(({ upstream }) => upstream.id)
    assert.deepEqual(idsFor('red', 'all'), ['2', '3'])
    assert.deepEqual(idsFor('blue', ['red', 'blue']), ['1'])
    assert.deepEqual(idsFor('green', ['red', 'blue']), ['1'])
    assert.deepEqual(idsFor('blue', ['red']), ['2', '3'])
    assert.deepEqual(idsFor('green', ['green']), [])
  })

  it('that the operator’s file has are nobody’s to take, nor is what it has to be changed', () => {
    const configured = new Map([
      ['file:f', { id: 'file:f', team: null, content: aContent({ name: 'f' }), isConfigured: true as const }],
    ])
    const { decide } = upstreamDecider(configured)
    const models = [aModel('other', { aliases: ['chat'] })]
    const commands: UpstreamCommand[] = [
      { type: 'CreateUpstream', id: '1', team: 'red', content: aContent() },
      { type: 'CreateUpstream', id: '1', team: null, content: aContent({ models }) },
      { type: 'ChangeUpstream', id: 'file:f', team: null, change: { weight: 2 } },
      { type: 'DeleteUpstream', id: 'file:f', team: null },
    ]
    for (const one of commands) assert.equal(decide(configured, one).refused?.kind, 'conflict', one.type)
    const beside = { type: 'CreateUpstream', id: '1', team: null, content: aContent() } as const
    assert.equal(decide(configured, beside).refused, undefined)
  })
})
