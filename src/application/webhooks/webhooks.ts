import { definedFields } from '../../kernel/defined-fields.js'
import type { Cause } from '../../kernel/event.js'
import { execute } from '../../kernel/execute.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { webhookProblems } from '../../domain/webhooks/checks.js'
import { credentialProblems } from '../../domain/secrets/credentials.js'
import { headerProblems, headerSecrets } from '../../domain/secrets/static-headers.js'
import {
  noSuchWebhook,
  webhookDecider,
  webhookStream,
  type RecordTest,
  type ReleaseWebhook,
  type Webhook,
  type WebhookContent,
} from '../../domain/webhooks/webhook.js'
import { countDeliveries } from '../../projections/webhooks/queries.js'
import { Failure, invalidBody } from '../failure.js'
import { inUse } from '../in-use.js'
import { NO_CONDITIONS } from '../reading/reading.js'
import { secretProblem, secretProblems } from '../secrets/secret-uses.js'
import type { Services } from '../services.js'
import { automationsNeeding } from './checks.js'
import { automationsOf, webhookById } from './current-state.js'
import { namedResources } from './names.js'

const webhooks = namedResources({
  kind: 'webhook',
  decider: webhookDecider,
  stream: webhookStream,
  create: (webhook: { id: string; team: string; content: WebhookContent; enabled: boolean }) =>
    ({ type: 'CreateWebhook', ...webhook }) as const,
  change: (changed) => ({ type: 'ChangeWebhook', ...changed }) as const,
  remove: (webhook) => ({ type: 'DeleteWebhook', ...webhook }) as const,
})

interface WebhookPath {
  readonly team: string
  readonly id: string
}

/** A webhook of a team, also a deleted one. */
const webhookOfTeam = async (
  services: Pick<Services, 'eventStore' | 'ids'>,
  { team, id }: WebhookPath,
): Promise<Webhook> => {
  const webhook = await webhookById(services, id)
  if (webhook?.team !== team) throw new Failure(noSuchWebhook.kind, noSuchWebhook.reason)
  return webhook
}

export const existingWebhook = async (
  services: Pick<Services, 'eventStore' | 'ids'>,
  path: WebhookPath,
): Promise<Webhook> => {
  const webhook = await webhookOfTeam(services, path)
  if (webhook.deleted) throw new Failure(noSuchWebhook.kind, noSuchWebhook.reason)
  return webhook
}

interface NewWebhook extends WebhookPath {
  readonly content: WebhookContent
  readonly enabled: boolean
  /** The id derives from an `Idempotency-Key`. */
  readonly isRepeatable: boolean
}

export const createWebhook = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'vendor'>,
  { isRepeatable, ...webhook }: NewWebhook,
  cause: Cause,
) => {
  const isRepeat = isRepeatable && (await webhookById(services, webhook.id)) !== null
  if (!isRepeat) await requireGoodWebhook(services, webhook.team, webhook.content, webhook.content)
  return webhooks.create(services, webhook, isRepeat, cause)
}

/** Absent fields keep their values. */
type WebhookChange = { readonly [Field in keyof WebhookContent]?: WebhookContent[Field] | undefined } & {
  readonly enabled?: boolean | undefined
}

export const changeWebhook = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'vendor'>,
  path: WebhookPath,
  { enabled, ...change }: WebhookChange,
  cause: Cause,
) => {
  const webhook = await existingWebhook(services, path)
  const fields = definedFields(change)
  const content = { ...webhook.content, ...fields }
  await requireGoodWebhook(services, path.team, content, fields)
  await requireKeptSecrets(services, webhook, content)
  return webhooks.change(services, webhook, content, enabled ?? null, cause)
}

/** Releases a webhook, or records its test. */
export const writeToWebhook = (
  services: Pick<Services, 'eventStore' | 'ids'>,
  command: ReleaseWebhook | RecordTest,
  cause: Cause,
) => execute(services)(webhookDecider, webhookStream(command.id), [command], cause)

export const deleteWebhook = async (
  services: Pick<Services, 'eventStore' | 'ids'>,
  path: WebhookPath,
  isForced: boolean,
  cause: Cause,
): Promise<Position> => {
  const webhook = await webhookOfTeam(services, path)
  if (!webhook.deleted && !isForced) await requireUnused(services, path.team, path.id)
  const { position } = await webhooks.remove(services, webhook, cause)
  return position ?? services.eventStore.head()
}

/** Refuses invalid values, and in changed fields secrets that it may not use and credentials that are written out. */
export const requireGoodWebhook = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'vendor'>,
  team: string,
  content: WebhookContent,
  { access_token, secret, headers }: Partial<WebhookContent>,
): Promise<void> => {
  const unusable = await secretProblems(services, team, headerSecrets(content.headers), 'webhooks')
  const problems = [
    ...webhookProblems(content),
    ...headerProblems(content, services.vendor, unusable),
    ...credentialProblems(headers, 'access_token'),
  ]
  for (const [field, name] of Object.entries({ access_token, secret })) {
    const msg = name == null ? undefined : await secretProblem(services, team, name, 'webhooks')
    if (msg !== undefined) problems.push({ loc: [field], type: 'value_error', msg })
  }
  if (problems.length > 0) throw invalidBody(problems)
}

/** Refuses to remove or replace a secret that payloads of automations name. */
const requireKeptSecrets = async (
  services: Pick<Services, 'eventStore' | 'ids'>,
  webhook: Webhook,
  content: WebhookContent,
): Promise<void> => {
  const changed = (['access_token', 'secret'] as const).filter(
    (field) => content[field] !== webhook.content[field],
  )
  if (changed.length === 0) return
  const automations = await automationsNeeding(services, webhook, content)
  if (automations.length === 0) return
  const names = automations.slice(0, MAX_NAMED).map(({ content: { name } }) => name)
  const more = automations.length > MAX_NAMED ? `, and ${automations.length - MAX_NAMED} more` : ''
  const msg = `Payloads of automations use this secret: ${names.join(', ')}${more}. Change these payloads first`
  throw invalidBody(changed.map((field) => ({ loc: [field], type: 'value_error', msg })))
}

const MAX_NAMED = 10

const requireUnused = async (
  services: Pick<Services, 'eventStore' | 'ids'>,
  team: string,
  id: string,
): Promise<void> => {
  const automations = (await automationsOf(services, team)).filter(({ content }) => content.webhook === id)
  if (automations.length > 0)
    throw inUse(
      'Automations send to this webhook',
      automations.map(({ id, content: { name } }) => ({ kind: 'automation', id, name })),
    )
}

/** The dispatcher cancels the pending deliveries later, so these are counted as canceled. */
export const canceledWith = async (
  { reading }: Pick<Services, 'reading'>,
  reader: ClickHouseReader,
  { id, team, position }: { readonly id: string; readonly team: string; readonly position: Position },
): Promise<number | null> => {
  const count = countDeliveries(reader)
  try {
    const asked = {
      team,
      webhook: id,
      position: await reading.waitForNow(`deleting ${id}`, NO_CONDITIONS, position),
    }
    const waiting = await count({ ...asked, states: ['pending', 'retrying'] })
    return waiting + (await count({ ...asked, states: ['canceled'], reason: 'webhook_deleted' }))
  } catch {
    return null
  }
}
