import { nullable } from '../../domain/codec/containers.js'
import { int64 } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { execute } from '../../runtime/execute.js'
import type { Position } from '../../domain/ports/event-store.js'
import { noSuchWebhook, webhookDecider, type Webhook } from '../../domain/webhook/decider.js'
import { webhookStream } from '../../domain/webhook/events.js'
import { countDeliveries } from '../../projections/deliveries/queries.js'
import { refuseIf, requireRole } from '../auth/rights.js'
import { writesDirectory } from '../conduct.js'
import { Failure } from '../failure.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import type { Automations } from './automations.js'
import { given } from './given.js'
import { webhookById } from './kept.js'
import { releaseName, takeName } from './names.js'
import { shownWebhook, webhookChange, webhookJson } from './webhook-codecs.js'
import { requireGoodWebhook } from './webhooks.js'

export const WEBHOOK_PATH = '/api/teams/:team/webhooks/:id'
const rights = ['not-found', 'forbidden'] as const

type InTeam = Pick<Asked<unknown>, 'params' | 'principal' | 'cause'>

/** The webhook that a path names, deleted ones too. */
export const webhookInPath = async (
  { ports, access }: Automations,
  { params, principal, cause }: InTeam,
): Promise<Webhook> => {
  const team = params['team']!
  requireRole(access, principal, team, 'team_administrator')
  const webhook = await webhookById(ports, params['id']!, cause)
  if (webhook?.team !== team) throw new Failure(noSuchWebhook.kind, noSuchWebhook.reason)
  return webhook
}

export const standing = (webhook: Webhook): Webhook => {
  if (webhook.deleted) throw new Failure(noSuchWebhook.kind, noSuchWebhook.reason)
  return webhook
}

export const showWebhook = (automations: Automations): AnyRoute =>
  route({
    method: 'get',
    path: WEBHOOK_PATH,
    summary: 'A webhook of a team. Needs the role team_administrator.',
    takes: [],
    fails: rights,
    answer: { schema: webhookJson.schema, headers: [] },
    handle: async (asked) => ({ body: shownWebhook(standing(await webhookInPath(automations, asked))) }),
  })

export const changeWebhook = (automations: Automations): AnyRoute =>
  route({
    method: 'patch',
    path: WEBHOOK_PATH,
    summary:
      'Changes a webhook: what is not named stays, null takes an option away, enabled releases or holds its messages. ' +
      'Needs the role team_administrator.',
    body: webhookChange,
    takes: [],
    fails: [...writesDirectory.fails, ...rights, 'conflict'],
    answer: { schema: webhookJson.schema },
    handle: async (asked) =>
      automations.runExclusive(async () => {
        const { ports } = automations
        const { cause } = asked
        const { id, team, content: before, edition } = standing(await webhookInPath(automations, asked))
        const { enabled, ...fields } = asked.body
        const content = { ...before, ...given(fields) }
        await requireGoodWebhook(ports, team, content, given(fields))
        const named = { team, kind: 'webhook', id } as const
        const isRenamed = content.name !== before.name
        if (isRenamed) await takeName(ports, { ...named, name: content.name }, cause)
        const { state, refusals, position } = await execute(ports)(
          webhookDecider,
          webhookStream(id),
          [{ type: 'ChangeWebhook', id, team, edition, content, enabled: enabled ?? null }],
          cause,
        )
        const refused = refusals.get(0)
        if (isRenamed) await releaseName(ports, { ...named, name: (refused ? content : before).name }, cause)
        refuseIf(refused)
        return { body: shownWebhook(state!), position }
      }),
  })

const deletedWebhook = open('DeletedWebhook', {
  says:
    '`canceled` deliveries waited for the webhook and are not sent any more; null where they cannot be counted now. ' +
    'Deleting it again counts again.',
  required: { canceled: nullable(int64) },
})

export const deleteWebhook = (automations: Automations): AnyRoute =>
  route({
    method: 'delete',
    path: WEBHOOK_PATH,
    summary:
      'Deletes a webhook for good. What waits for it is canceled; what is under way ends by itself. Needs the role ' +
      'team_administrator.',
    takes: [],
    fails: [...writesDirectory.fails, ...rights],
    answer: { schema: deletedWebhook.schema },
    handle: async (asked) => {
      const { ports } = automations
      const deleted = await automations.runExclusive(async () => {
        const { id, team, content } = await webhookInPath(automations, asked)
        const command = { type: 'DeleteWebhook', id, team } as const
        const { position } = await execute(ports)(webhookDecider, webhookStream(id), [command], asked.cause)
        await releaseName(ports, { team, kind: 'webhook', name: content.name, id }, asked.cause)
        return { id, team, position: position ?? (await ports.eventStore.head()) }
      })
      return { body: { canceled: await canceledWith(automations, deleted) }, position: deleted.position }
    },
  })

/** Those that still wait are canceled by who would have sent them. */
const canceledWith = async (
  { reading, reader }: Automations,
  { id, team, position }: { readonly id: string; readonly team: string; readonly position: Position },
): Promise<number | null> => {
  const count = countDeliveries(reader)
  try {
    const asked = { team, webhook: id, position: await reading.current(`deleting ${id}`, {}, position) }
    const waiting = await count({ ...asked, states: ['pending', 'retrying'] })
    return waiting + (await count({ ...asked, states: ['canceled'], reason: 'webhook_deleted' }))
  } catch {
    return null
  }
}
