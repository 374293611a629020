import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { answers } from '../../support/receivers/behaviours.js'
import type { Receiver } from '../../support/receivers/receiver.js'
import { until } from '../../support/until.js'
import { saying } from '../../support/upstreams/behaviours.js'
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/upstream.js'
import { accepted, textIn } from '../calls/given.js'
import { finishedStatus, logRun, rescore, scorerObject } from '../evaluations/logged-run.js'
import { anUpstream, complete, UPSTREAMS } from '../gateway/given.js'
import { startSending, type Sending } from '../webhooks/deliveries/given.js'
import { anAutomation, aWebhook, givenTeam } from '../webhooks/given.js'

const ROLES = ['member', 'project_administrator', 'team_administrator'] as const
type Role = (typeof ROLES)[number]

/** The rows of the table in the page, by use: the least roles that choose and that cause it. */
const table = (): ReadonlyMap<string, readonly [chosenBy: string, causedBy: string]> => {
  const page = readFileSync(new URL('../../../docs/access.md', import.meta.url), 'utf8')
  const [, section] = page.split('### Who may use a secret')
  const rows = section!
    .slice(0, section!.indexOf('\n#'))
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
  return new Map(rows.map(([, use, chosenBy, causedBy]) => [use!, [chosenBy!, causedBy!]]))
}

/** Whether a user of a role could do it, and it had its effect. */
type Attempt = (role: Role) => Promise<boolean>

const noRole: Attempt = () => Promise.resolve(false)

describe('secrets of a team', () => {
  let sending: Sending
  let given: Awaited<ReturnType<typeof givenTeam>>
  let receiver: Receiver
  let upstream: ScriptedUpstream
  let project: string
  let webhook: string
  let count = 0
  before(async () => {
    sending = await startSending()
    given = await givenTeam(sending.service)
    project = `${given.team}/project`
    receiver = await sending.receiver(answers(200, {}, '{"score": 1}'))
    upstream = await startUpstream(saying(['{"correct": true}']))
    for (const [name, used_for] of [
      ['HOOK', ['webhooks']],
      ['MODEL', ['upstreams']],
      ['SCORER', ['scorers']],
    ] as const)
      accepted(await asTeam('PUT', `/api/teams/${given.team}/secrets/${name}`, { value: name, used_for }))
    webhook = textIn(
      accepted(
        await given.postWebhook(aWebhook({ url: receiver.url, secret: 'HOOK', access_token: 'HOOK' })),
      ),
      'id',
    )
    accepted(
      await given.postAutomation(
        anAutomation(given.team, { event: { type: 'CALL_FAILED' }, payload: '{"key":"${ACCESS_TOKEN}"}' }),
      ),
    )
    accepted(await asTeam('POST', UPSTREAMS, modelServedAs('chat', 'one')))
  })
  after(async () => {
    await sending.stop()
    await upstream.close()
  })

  const as = (role: Role, method: string, path: string, body?: unknown) =>
    sending.service.send(method, path, body, { key: given.keys[role] })
  const asTeam = (method: string, path: string, body?: unknown) =>
    as('team_administrator', method, path, body)
  const isAllowed = async (...request: Parameters<typeof as>): Promise<boolean> => {
    const { status, text } = await as(...request)
    assert.ok(status === 200 || status === 403, text)
    return status === 200
  }
  const another = (): string => `n${String((count += 1))}`

  const modelServedAs = (id: string, name: string): JsonObject => ({
    ...anUpstream({ team: given.team, name, base_url: upstream.baseUrl, secret: 'MODEL' }),
    models: [{ id, upstream_id: 'chat-1' }],
  })
  const chooseUpstream: Attempt = (role) =>
    isAllowed(role, 'POST', UPSTREAMS, modelServedAs(another(), another()))

  /** Does it, and looks for the secret in what the receiver or the upstream gets then. */
  const sends = async (work: () => Promise<boolean>): Promise<boolean> => {
    const [from, asked] = [receiver.received.length, upstream.arrivals.length]
    if (!(await work())) return false
    await until(() => receiver.received.length > from || upstream.arrivals.length > asked)
    const { headers } = receiver.received[from] ?? upstream.arrivals[asked]!
    assert.ok(headers['webhook-signature'] !== undefined || headers.authorization === 'Bearer MODEL')
    return true
  }

  const failCall: Attempt = (role) =>
    sends(async () => {
      const { calls } = sending.service.in(project).with({ key: given.keys[role] })
      const { id } = await calls.start().json()
      return (await calls.end(id, { exception: 'Error: no' })).status === 200
    })
  const testHook: Attempt = (role) =>
    sends(() => isAllowed(role, 'POST', `${given.webhooks}/test`, { url: receiver.url, secret: 'HOOK' }))
  const resend: Attempt = async (role) => {
    const query = `team=${given.team}&state=succeeded&limit=1`
    const listed = async () =>
      accepted(await asTeam('GET', `/api/deliveries?${query}`))['data'] as JsonObject[]
    await until(async () => (await listed()).length === 1)
    const [delivery] = await listed()
    return sends(() => isAllowed(role, 'POST', `/api/deliveries/${textIn(delivery!, 'id')}/resend`))
  }
  const complete_: Attempt = (role) =>
    sends(async () => (await complete(sending.service, given.keys[role], project)).status === 200)
  const testUpstream: Attempt = (role) =>
    sends(() => isAllowed(role, 'POST', `${UPSTREAMS}/test`, modelServedAs('chat', 'one')))

  const scoreWith = async (role: Role, scorer: JsonObject): Promise<boolean> => {
    const key = { key: given.keys[role] }
    const of = sending.service.in(project).with(key)
    const { id } = await logRun(sending.service, project, [{ example: { a: 1 }, output: 'b' }], key)
    const ref = await of.objects.publish(another(), scorer)
    const started = await rescore(sending.service, project, id, [ref], key)
    if (started.status !== 200) return false
    const { call_id } = started.json<{ call_id: string }>()
    const { warnings } = await finishedStatus(sending.service, project, call_id, key)
    assert.deepEqual(warnings, [])
    return true
  }
  const httpScorer: Attempt = (role) =>
    sends(() => scoreWith(role, scorerObject('HTTPScorer', { url: receiver.url, secret: 'SCORER' })))
  const judge: Attempt = (role) =>
    sends(async () => {
      const model = await sending.service
        .in(project)
        .with({ key: given.keys[role] })
        .objects.publish(another(), {
          _type: 'LLMStructuredCompletionModel',
          _class_name: 'LLMStructuredCompletionModel',
          _bases: ['Model', 'Object', 'BaseModel'],
          llm_model_id: 'chat',
          default_params: {
            _type: 'LLMStructuredCompletionModelDefaultParams',
            _class_name: 'LLMStructuredCompletionModelDefaultParams',
            response_format: 'json_object',
          },
        })
      return scoreWith(role, scorerObject('LLMAsAJudgeScorer', { model, scoring_prompt: '{output}?' }))
    })
  const withWorkerKey: Attempt = async (role) => {
    const key = textIn(
      accepted(await as(role, 'POST', '/api/users/me/api-keys', { scope: 'training_worker' })),
      'api_key',
    )
    const { status } = await complete(sending.service, key, project)
    const listed = await sending.service.send('GET', `/api/teams/${given.team}/secrets`, undefined, { key })
    assert.deepEqual([status, listed.status], [403, 403])
    return false
  }

  const USES: Readonly<Record<string, readonly [choose: Attempt, cause: Attempt]>> = {
    'message of a webhook': [
      (role) => isAllowed(role, 'POST', given.webhooks, aWebhook({ name: another(), secret: 'HOOK' })),
      failCall,
    ],
    'payload of automation': [
      async (role) => {
        const payload = '{"key": "${ACCESS_TOKEN}"}'
        const made = anAutomation(given.team, { name: another(), webhook, payload })
        return isAllowed(role, 'POST', '/api/automations', made)
      },
      failCall,
    ],
    'test of a webhook': [testHook, testHook],
    'resend or redrive': [noRole, resend],
    completion: [chooseUpstream, complete_],
    'LLM judge': [chooseUpstream, judge],
    'test of an upstream': [testUpstream, testUpstream],
    'HTTP scorer': [httpScorer, httpScorer],
    'training worker': [noRole, withWorkerKey],
  }

  it('are used as a table in the page about access says, by rows that are all tested', () => {
    assert.deepEqual([...table().keys()], Object.keys(USES))
  })

  /** The least role that may, and the greatest that may not. */
  const boundary = (least: string): readonly (readonly [role: Role, may: boolean])[] => {
    const at = least === 'no role' ? ROLES.length : ROLES.indexOf(least as Role)
    return ROLES.map((role, index) => [role, index >= at] as const).slice(Math.max(0, at - 1), at + 1)
  }

  for (const [use, [choose, cause]] of Object.entries(USES))
    it(`are chosen and used by the roles of the table: ${use}`, async () => {
      const [chosenBy, causedBy] = table().get(use)!
      for (const [attempt, least] of [
        [choose, chosenBy],
        [cause, causedBy],
      ] as const)
        for (const [role, may] of boundary(least)) assert.equal(await attempt(role), may, `${role}, ${least}`)
    })

  it('of webhooks and upstreams sign for no scorer, whatever the role of the caller', async () => {
    for (const [secret, role] of [
      ['HOOK', 'member'],
      ['MODEL', 'team_administrator'],
    ] as const) {
      const scorer = scorerObject('HTTPScorer', { url: `${receiver.url}forbidden`, secret })
      await assert.rejects(scoreWith(role, scorer), /PATCH/)
    }
    assert.ok(receiver.received.every(({ path }) => !path.includes('forbidden')))
  })

  it('are nowhere else: text with the name of a secret stays text', async () => {
    const asked = upstream.arrivals.length
    const content = '$MODEL ${MODEL}'
    await complete(sending.service, given.keys.member, project, { messages: [{ role: 'user', content }] })
    assert.match(JSON.stringify(upstream.arrivals[asked]!.body), /\$MODEL \$\{MODEL\}/)
  })
})
