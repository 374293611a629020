import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { EVENT_TYPES } from '../../../src/domain/webhooks/automations/events.js'
import type { TestService } from '../../support/service.js'
import { accepted, told } from '../calls/given.js'
import { sharedService } from '../shared-service.js'
import { anAutomation, aWebhook, givenTeam } from './given.js'

interface Field {
  readonly name: string
  readonly kind: string
  readonly required: boolean
  readonly default: unknown
  readonly choices: readonly string[] | null
}

interface EventInfo {
  readonly type: string
  readonly scopes: readonly string[]
  readonly fields: readonly Field[]
  readonly variables: readonly { readonly name: string; readonly type: string; readonly example: unknown }[]
}

/** A value that a field takes. */
const valueOf = ({ kind, choices }: Field): unknown => {
  switch (kind) {
    case 'choice':
      return choices![0]
    case 'choices':
      return choices
    case 'number':
      return 0.5
    case 'integer':
      return 5
    default:
      return 'some'
  }
}

describe('the events that automations watch', () => {
  let service: TestService
  let events: readonly EventInfo[]
  before(async () => {
    service = await sharedService()
    events = accepted(await service.send('GET', '/api/automation-events'))['data'] as unknown as EventInfo[]
  })

  it('are all there, with what each takes', () => {
    assert.deepEqual(
      events.map(({ type }) => type),
      EVENT_TYPES,
    )
    const { scopes, fields } = events.find(({ type }) => type === 'RUN_METRIC')!
    assert.deepEqual(scopes, ['project'])
    assert.deepEqual(
      fields.map(({ name, kind, required }) => [name, kind, required]),
      [
        ['metric', 'text', true],
        ['comparison', 'choice', true],
        ['threshold', 'number', true],
        ['aggregation', 'choice', false],
        ['window', 'integer', false],
      ],
    )
    assert.deepEqual(fields[3], {
      name: 'aggregation',
      kind: 'choice',
      required: false,
      default: null,
      choices: ['MAX', 'MIN', 'AVERAGE'],
      minimum: null,
      maximum: null,
    })
    assert.deepEqual([fields[4]!.default, 'maximum' in fields[4]! && fields[4].maximum], [1, 1000])
  })

  it('make automations with these fields and variables, and not without the required ones', async () => {
    const { team, postWebhook, postAutomation } = await givenTeam(service)
    accepted(await postWebhook(aWebhook()))
    const scopeOf = (type: string) => ({
      type,
      ...(type === 'team' ? {} : { [type]: type === 'project' ? 'project' : 'models' }),
    })
    for (const { type, scopes, fields, variables } of events)
      for (const scope of scopes) {
        const required = fields.filter((field) => field.required)
        const given = Object.fromEntries(required.map((field) => [field.name, valueOf(field)]))
        const names = variables.map(({ name }) => name)
        const body = {
          name: `${type} in ${scope}`,
          scope: scopeOf(scope),
          payload: `[${names.map((name) => `"\${${name}}"`).join()}]`,
        }
        const { event } = accepted(
          await postAutomation(anAutomation(team, { ...body, event: { type, ...given } })),
        )
        for (const field of fields.filter((field) => !field.required))
          assert.deepEqual((event as never)[field.name], field.name === 'prior_window' ? 1 : field.default)
        for (const { name } of required) {
          const { [name]: _, ...rest } = given
          const answer = await postAutomation(
            anAutomation(team, { ...body, name: 'other', event: { type, ...rest } }),
          )
          assert.deepEqual(told(answer), [`missing event.${name}`])
        }
      }
  })

  it('are those of the documentation', async () => {
    const text = await readFile('docs/automation-events.md', 'utf8')
    const rows = [...text.matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) +\| ([a-z, ]+?) +\|(.*)\|$/gm)]
    const documented = rows.flatMap(([, types, scopes, fields]) =>
      [...types!.matchAll(/`([A-Z_]+)`/g)].map(([, type]) => ({
        type: type!,
        scopes: scopes!.split(', '),
        required: [...fields!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
      })),
    )
    const byType = (a: { type: string }, b: { type: string }) => (a.type < b.type ? -1 : 1)
    assert.deepEqual(
      documented.toSorted(byType),
      events
        .map(({ type, scopes, fields }) => ({
          type,
          scopes,
          required: fields.filter(({ required }) => required).map(({ name }) => name),
        }))
        .toSorted(byType),
    )
  })
})
