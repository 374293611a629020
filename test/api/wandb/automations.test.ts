import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { answers } from '../../support/receivers/behaviours.js'
import { until } from '../../support/until.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { accepted, textIn } from '../calls/given.js'
import { dataOf } from '../graphql/given.js'
import { anAutomation, aWebhook, givenTeam, projectScope, registryScope } from '../webhooks/given.js'
import { FAST, startSending, type Sending } from '../webhooks/deliveries/given.js'
import { clientOf } from './given.js'

/** For messages that should not come. */
const SETTLED_MS = 500

describe('an automation over what the package wandb does', () => {
  let sending: Sending
  before(async () => void (sending = await startSending()))
  after(() => sending.stop())

  const given = async () => {
    const { service } = sending
    const of = await givenTeam(service)
    const { url, received } = await sending.receiver(answers(200))
    accepted(await of.postWebhook(aWebhook({ url, ...FAST })))
    const automate = async (more: object) =>
      textIn(accepted(await of.postAutomation(anAutomation(of.team, more))), 'id')
    const messages = async (count: number) => {
      await until(() => received.length >= count)
      await sleep(SETTLED_MS)
      return received.map(({ body }) => body.toString()).toSorted()
    }
    return { ...of, service, client: clientOf(service, `${of.team}/project`), automate, messages }
  }

  it('sends one message for a tag of a linked artifact in its project, and one in the registry', async () => {
    const { client, automate, messages } = await given()
    const event = { type: 'ADD_ARTIFACT_TAG' }
    await automate({ name: 'p', scope: projectScope, event, payload: '{"project": "${tag}"}' })
    await automate({ name: 'r', scope: registryScope, event, payload: '{"registry": "${tag}"}' })
    const artifactID = await client.upload('ds', { a: '1' })
    const update = (input: JsonObject) =>
      client
        .graphQl(
          'mutation ($input: UpdateArtifactInput!) { updateArtifact(input: $input) { artifact { id } } }',
          { input: { artifactID, ...input } },
        )
        .then(dataOf)
    await client.link(artifactID, 'best')
    for (let n = 0; n < 2; n += 1) await update({ tagsToAdd: [{ tagName: 'good' }] })
    assert.deepEqual(await messages(2), ['{"project": "good"}', '{"registry": "good"}'])
  })

  it('reads the changed metadata of an artifact, also for an alias of its link', async () => {
    const { team, client, automate, messages } = await given()
    const event = { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: '^prod$' }
    const payload = '{"rows": ${artifact_metadata.rows}}'
    await automate({ name: 'p', scope: projectScope, event, payload })
    await automate({ name: 'r', scope: registryScope, event, payload })
    const artifactID = await client.upload('ds', { a: '1' }, { metadata: '{"rows":1}' })
    const place = { entityName: team, projectName: 'wandb-registry-models' }
    const mutate = async (name: string, type: string, fields: string, input: JsonObject) =>
      dataOf(
        await client.graphQl(`mutation ($input: ${type}!) { ${name}(input: $input) { ${fields} } }`, {
          input,
        }),
      )
    await client.link(artifactID, 'best')
    await mutate('updateArtifact', 'UpdateArtifactInput', 'artifact { id }', {
      artifactID,
      metadata: '{"rows":2}',
    })
    await mutate('addAliases', 'AddAliasesInput', 'success', {
      artifactID,
      aliases: [
        { entityName: team, projectName: 'project', artifactCollectionName: 'ds', alias: 'prod' },
        { ...place, artifactCollectionName: 'best', alias: 'prod' },
      ],
    })
    assert.deepEqual(await messages(2), ['{"rows": 2}', '{"rows": 2}'])
  })

  it('is sent once for the end of a run, whatever is sent again and late', async () => {
    const { client, automate, messages } = await given()
    const event = { type: 'RUN_STATE', states: ['FINISHED'] }
    await automate({ event, payload: '{"run": "${run_name}"}' })
    const end = { complete: true, exitcode: 0 }
    await client.init('r')
    await client.log('r', 0, ['{"a":1}'], end)
    await client.log('r', 0, ['{"a":1}'], end)
    await client.log('r', 1, ['{"a":2}'], end)
    await client.init('r')
    await client.log('r', 1, ['{"a":2}'])
    assert.deepEqual(await messages(1), ['{"run": "r"}'])
  })

  it('judges the rows of a long request in order; why and backtest agree', async () => {
    const { team, client, automate, messages, service, send } = await given()
    const event = { type: 'RUN_METRIC', metric: 'acc.top', comparison: '$gt', threshold: 0.5 }
    const payload = '{"acc": ${metric_value}}'
    const automation = await automate({ event, payload, run_filters: { name_pattern: '^train' } })
    await automate({ name: 'of another', event, payload, run_filters: { user: 'another' } })
    const rows = Array.from(
      { length: 20_000 },
      (_, at) => `{"acc":{"top":${at / 20_000}},"_step":${at},"x":NaN}`,
    )
    for (const displayName of ['train-1', 'other']) {
      await client.init(displayName, { displayName })
      await client.log(displayName, 0, rows)
    }
    assert.deepEqual(await messages(1), [`{"acc": ${10_001 / 20_000}}`])
    const events: { readonly id: string; readonly lines: unknown }[] = []
    for await (const { id, type, data } of service.stores.eventStore.readStream(
      `run-${team}/project/train-1`,
    ))
      if (type === 'HistoryLogged') events.push({ id, lines: data['lines'] })
    const [first] = events
    assert.equal(first!.lines, null)
    const why = accepted(await send('GET', `/api/automations/${automation}/why?event=${first!.id}`))
    assert.equal(why['matched'], true)
    const backtest = accepted(await send('POST', `/api/automations/${automation}/backtest`, {}))
    assert.deepEqual(
      (backtest['data'] as readonly JsonObject[]).map(({ body }) => body),
      [`{"acc": ${10_001 / 20_000}}`],
    )
  })
})
