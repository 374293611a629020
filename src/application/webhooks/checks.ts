import * as E from 'fp-ts/lib/Either.js'
import type { Automation } from '../../domain/webhooks/automations/decider.js'
import {
  automationStream,
  type AutomationContent,
  type AutomationScope,
} from '../../domain/webhooks/automations/events.js'
import { completeWatchConfig, type WatchConfig } from '../../domain/webhooks/automations/watch-config.js'
import { hasRegistry } from '../artifacts/registries.js'
import type { Problem } from '../../kernel/codec/problem.js'
import { projectAdministrator, registryAdministrator, type Role } from '../../domain/access/roles.js'
import { ownerOf } from '../../domain/webhooks/names/names.js'
import { parseTemplate, storedTemplate } from '../../domain/webhooks/templates/parse.js'
import { secretsIn, type SecretReference } from '../../domain/webhooks/templates/template.js'
import { type Webhook, webhookStream, type WebhookContent } from '../../domain/webhooks/webhook.js'
import { invalidBody, invalidField } from '../failure.js'
import type { CompilePattern } from '../../kernel/ports/patterns.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { automationsOf, rosterOf, webhookById } from './current-state.js'

export interface ValidationPorts extends Pick<Ports, 'eventStore' | 'blobs' | 'ids' | 'sha256'> {
  readonly compilePattern: CompilePattern
}

/** The role in the team that automations of a scope require. */
export const roleFor = ({ type, project, registry }: AutomationScope): Role => {
  switch (type) {
    case 'project':
      return project === null ? 'project_administrator' : projectAdministrator(project)
    case 'registry':
      return registry === null ? 'registry_administrator' : registryAdministrator(registry)
    case 'team':
      return 'team_administrator'
    default:
      return type satisfies never
  }
}

/** Finds a webhook of the team by id or name. */
export const findWebhook = async (ports: ValidationPorts, team: string, named: string): Promise<Webhook> => {
  const standing = async (id: string | undefined) => {
    const webhook = id === undefined ? null : await webhookById(ports, id)
    return webhook?.team === team && !webhook.deleted ? webhook : undefined
  }
  const byId = await standing(named)
  if (byId !== undefined) return byId
  const byName = await standing(ownerOf(await rosterOf(ports, team), 'webhook', named))
  if (byName?.content.name === named) return byName
  throw invalidField(['webhook'], 'value_error', 'The team has no webhook with this name or id')
}

/**
 * As `webhookCalled`, for a retry of an automation's creation: the webhook that the name or id meant at that time, even
 * if it was renamed or deleted since.
 */
export const findWebhookAtCreation = async (
  ports: ValidationPorts,
  { id, team, first }: Automation,
  named: string,
): Promise<Webhook> => {
  const webhook = await webhookById(ports, first.content.webhook)
  return webhook !== null && (webhook.id === named || (await nameThen(ports, webhook.id, id)) === named)
    ? webhook
    : findWebhook(ports, team, named)
}

/** The webhook's name when the automation was created. */
const nameThen = async (
  { eventStore }: ValidationPorts,
  webhook: string,
  automation: string,
): Promise<unknown> => {
  let name: unknown
  for await (const made of eventStore.readStream(automationStream(automation), { limit: 1 }))
    for await (const { data, position } of eventStore.readStream(webhookStream(webhook))) {
      if (position > made.position) break
      name = data['name'] ?? name
    }
  return name
}

type Payload = Pick<AutomationContent, 'payload' | 'secret' | 'access_token'>

/** The parts of an automation that depend on its payload and webhook, or why the payload is not a template. */
const payloadFor = (
  payload: string,
  { content: { access_token, secret } }: Webhook,
): E.Either<readonly Problem[], Payload> => {
  const parsed = parseTemplate(payload, { accessToken: access_token, secret })
  return E.isRight(parsed)
    ? E.right({ payload, secret, access_token })
    : E.left([{ loc: ['payload'], type: 'value_error', ...parsed.left }])
}

/** The automations of a webhook whose payloads need the secrets that it would no longer have, by name. */
export const automationsNeeding = async (
  ports: Pick<Ports, 'eventStore' | 'ids'>,
  { id, team }: Webhook,
  { access_token: accessToken, secret }: Pick<WebhookContent, 'access_token' | 'secret'>,
): Promise<readonly Automation[]> => {
  const isLost = (needed: SecretReference): boolean =>
    needed.kind === 'access_token' ? accessToken === null : needed.name !== secret
  const all = await automationsOf(ports, team)
  return all.filter(({ content }) => {
    const template = storedTemplate(content)
    return content.webhook === id && template !== undefined && secretsIn(template).some(isLost)
  })
}

interface CheckedAutomation {
  readonly problems: readonly Problem[]
  /** The conditions with their defaults; undefined if they have problems. */
  readonly watch: WatchConfig | undefined
  /** Empty without a webhook; undefined if the payload is not a template. */
  readonly payload: Partial<Payload> | undefined
}

/** Completes the conditions and the payload of an automation. */
export const checkAutomation = async (
  ports: ValidationPorts,
  team: string,
  proposed: WatchConfig,
  payload: string,
  webhook: Webhook | undefined,
): Promise<CheckedAutomation> => {
  const watch = completeWatchConfig(ports.compilePattern, team, proposed)
  const parsed = webhook === undefined ? E.right({}) : payloadFor(payload, webhook)
  const problems = [
    ...(E.isLeft(watch) ? watch.left : await registryProblems(ports, team, watch.right.scope)),
    ...(E.isLeft(parsed) ? parsed.left : []),
  ]
  const rightOf = <A>(either: E.Either<unknown, A>) => (E.isRight(either) ? either.right : undefined)
  return { problems, watch: rightOf(watch), payload: rightOf(parsed) }
}

/** As `checkAutomation`, but refuses an automation with all its problems. */
export const checkedContent = async (
  ...automation: Parameters<typeof checkAutomation>
): Promise<WatchConfig & Partial<Payload>> => {
  const { problems, watch, payload } = await checkAutomation(...automation)
  if (problems.length > 0 || watch === undefined) throw invalidBody(problems)
  return { ...watch, ...payload }
}

/** Registries are created explicitly; projects exist as soon as something is written to them. */
const registryProblems = async (
  ports: ValidationPorts,
  team: string,
  { registry }: AutomationScope,
): Promise<readonly Problem[]> =>
  registry === null || (await hasRegistry(ports, team, registry))
    ? []
    : [{ loc: ['scope', 'registry'], type: 'value_error', msg: 'The team has no registry with this name' }]
