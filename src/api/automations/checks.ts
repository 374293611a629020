import * as E from 'fp-ts/lib/Either.js'
import type { Automation } from '../../domain/automation/decider.js'
import {
  automationStream,
  type AutomationContent,
  type AutomationScope,
} from '../../domain/automation/events.js'
import { completeWatchConfig, type WatchConfig } from '../../domain/automation/watch-config.js'
import type { Problem } from '../../domain/codec/problem.js'
import type { Role } from '../../domain/access/roles.js'
import type { Cause } from '../../domain/event.js'
import { ownerOf } from '../../domain/names/decider.js'
import { parseTemplate } from '../../domain/template/parse.js'
import type { Webhook } from '../../domain/webhook/decider.js'
import { webhookStream } from '../../domain/webhook/events.js'
import { invalidBody, invalidField } from '../failure.js'
import type { CheckingPorts } from './automations.js'
import { hasRegistry, rosterOf, webhookById } from './kept.js'

/** What somebody needs to be in a team for automations of a scope. */
export const roleFor = ({ type }: Pick<AutomationScope, 'type'>): Role =>
  (
    ({
      project: 'project_administrator',
      registry: 'registry_administrator',
      team: 'team_administrator',
    }) as const
  )[type]

/** The webhook of a team by its id or its name. */
export const webhookCalled = async (
  ports: CheckingPorts,
  team: string,
  named: string,
  cause: Cause,
): Promise<Webhook> => {
  const standing = async (id: string | undefined) => {
    const webhook = id === undefined ? null : await webhookById(ports, id, cause)
    return webhook?.team === team && !webhook.deleted ? webhook : undefined
  }
  const byId = await standing(named)
  if (byId !== undefined) return byId
  const byName = await standing(ownerOf(await rosterOf(ports, team, cause), 'webhook', named))
  if (byName?.content.name === named) return byName
  throw invalidField(['webhook'], 'value_error', 'The team has no webhook with this name or id')
}

/** The same for a repeat of an automation's creation: the webhook that the name or id stood for then, whatever became of it. */
export const webhookCalledThen = async (
  ports: CheckingPorts,
  { id, team, first }: Automation,
  named: string,
  cause: Cause,
): Promise<Webhook> => {
  const webhook = await webhookById(ports, first.content.webhook, cause)
  return webhook !== null && (webhook.id === named || (await nameThen(ports, webhook.id, id)) === named)
    ? webhook
    : webhookCalled(ports, team, named, cause)
}

/** What a webhook was called when an automation was made. */
const nameThen = async (
  { eventStore }: CheckingPorts,
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

/** What of a payload is kept: its text and the secret that it was written for; or why it is no template. */
const payloadFor = (
  payload: string,
  { content: { access_token, secret } }: Webhook,
): E.Either<readonly Problem[], Pick<AutomationContent, 'payload' | 'secret'>> => {
  const parsed = parseTemplate(payload, { accessToken: access_token !== null, secret })
  return E.isRight(parsed)
    ? E.right({ payload, secret })
    : E.left([{ loc: ['payload'], type: 'value_error', msg: parsed.left }])
}

/** Completes what an automation watches for and what it sends, or refuses it with all that is wrong. */
export const checkedContent = async (
  ports: CheckingPorts,
  team: string,
  proposed: WatchConfig,
  payload: string,
  webhook: Webhook | undefined,
): Promise<WatchConfig & Partial<Pick<AutomationContent, 'payload' | 'secret'>>> => {
  const watched = completeWatchConfig(ports.compilePattern, team, proposed)
  const sent = webhook === undefined ? E.right({}) : payloadFor(payload, webhook)
  const problems = [
    ...(E.isLeft(watched) ? watched.left : await registryProblems(ports, team, watched.right.scope)),
    ...(E.isLeft(sent) ? sent.left : []),
  ]
  if (problems.length > 0 || E.isLeft(watched) || E.isLeft(sent)) throw invalidBody(problems)
  return { ...watched.right, ...sent.right }
}

/** Registries are made by name; projects come into being with what is written to them. */
const registryProblems = async (
  ports: CheckingPorts,
  team: string,
  { registry }: AutomationScope,
): Promise<readonly Problem[]> =>
  registry === null || (await hasRegistry(ports, team, registry))
    ? []
    : [{ loc: ['scope', 'registry'], type: 'value_error', msg: 'The team has no registry with this name' }]
