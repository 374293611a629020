import * as E from 'fp-ts/lib/Either.js'
import { parseFieldPath, valueAt } from '../../../query/field-path.js'
import { utf8Bytes } from '../../../../kernel/codec/text.js'
import { projectNameOf } from '../../../../kernel/ids.js'
import { digitsIn, rememberDigits } from '../../../../kernel/json/digits.js'
import type { Json } from '../../../../kernel/json/json.js'
import { MAX_BODY_BYTES, variablesIn, type Template } from '../../templates/template.js'
import { METADATA_PREFIX, type Variables } from '../../templates/variables.js'
import type { EventType } from '../events.js'
import type { Trigger, VersionInfo } from './trigger.js'
import type { Figure } from './verdict.js'

/** How messages name artifacts and calls. */
export interface MessageNames {
  /** References use the scheme `<vendor>-artifact`, in lower case. */
  readonly vendor: string
  /** Links begin with it; without it there are none. */
  readonly publicUrl: string | null
}

/** Input of the message besides the trigger. */
export interface MessageContext extends MessageNames {
  readonly eventType: EventType
  readonly figure: Figure | null
  /** The version of the artifact, see `versionShown`; undefined if unknown. */
  readonly shown: VersionInfo | undefined
}

type Value = Json | undefined

/** The value of a field of an automation's query: a variable, or a path into the metadata of the artifact. */
export const queryField = (
  name: string,
  trigger: Trigger,
  context: Omit<MessageContext, keyof MessageNames>,
): Json | undefined => {
  if (!name.startsWith(METADATA_PREFIX))
    return valueOf(name, trigger, { ...context, vendor: '', publicUrl: null })
  const path = parseFieldPath(name.slice(METADATA_PREFIX.length))
  return context.shown === undefined || E.isLeft(path)
    ? undefined
    : valueAt(context.shown.metadata, path.right)
}

/**
 * The template's variables with their values for a trigger, stored with the delivery. A variable without a value is
 * left out.
 *
 * Stops once the values exceed the body limit: such a template renders to an error anyway.
 */
export const variablesFor = (template: Template, trigger: Trigger, context: MessageContext): Variables => {
  const variables: Record<string, Json> = {}
  let bytes = 0
  for (const name of variablesIn(template)) {
    const key = name.startsWith(METADATA_PREFIX) ? name.slice(METADATA_PREFIX.length) : undefined
    const value = key === undefined ? valueOf(name, trigger, context) : metadata(context.shown, key)
    if (value === undefined) continue
    variables[name] = value
    const digits = key === undefined ? undefined : digitsIn(context.shown!.metadata, key)
    if (digits !== undefined) rememberDigits(variables, name, digits)
    bytes += leastBytes(value)
    if (bytes > MAX_BODY_BYTES) break
  }
  return variables
}

/** The minimum size of a value in a body: inside a string, text has no quotes of its own. */
const leastBytes = (value: Json): number =>
  utf8Bytes(JSON.stringify(value)) - (typeof value === 'string' ? 2 : 0)

const metadata = (shown: VersionInfo | undefined, key: string): Value =>
  shown !== undefined && Object.hasOwn(shown.metadata, key) ? shown.metadata[key] : undefined

const valueOf = (name: string, trigger: Trigger, context: MessageContext): Value => {
  switch (name) {
    case 'event_type':
      return context.eventType
    case 'event_author':
      return trigger.author
    case 'entity_name':
      return trigger.team
    case 'metric_name':
    case 'metric_value':
    case 'threshold':
      return context.figure?.[name]
    default:
      return ofKind(name, trigger, context)
  }
}

/** A missing alias or tag is an empty text; any other missing value is left out. */
const ofKind = (name: string, trigger: Trigger, context: MessageContext): Value => {
  const own =
    trigger.kind === 'artifact' ? ofArtifact(name, trigger, context) : ofOthers(name, trigger, context)
  return own ?? (name === 'alias' || name === 'tag' ? '' : undefined)
}

/** Of the text's UTF-8 bytes. */
const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)))

type Artifact = Extract<Trigger, { readonly kind: 'artifact' }>

const ofArtifact = (name: string, trigger: Artifact, { shown, vendor }: MessageContext): Value => {
  const { team, collection, version, alias, tag } = trigger
  const project = placeOf(trigger)
  switch (name) {
    case 'project_name':
      return project
    case 'alias':
      return alias ?? undefined
    case 'tag':
      return tag ?? undefined
    case 'artifact_collection_name':
      return collection
    case 'artifact_version':
      return shown && `${vendor.toLowerCase()}-artifact://_id/${base64(`Artifact:${shown.artifact_id}`)}`
    case 'artifact_version_string':
      return `${team}/${project}/${collection}:${alias ?? `v${version}`}`
    default:
      return undefined
  }
}

/** The registry takes the place of the project. */
const placeOf = ({ project_id, registry }: Artifact): string => registry ?? projectNameOf(project_id ?? '')

const ofOthers = (
  name: string,
  trigger: Exclude<Trigger, Artifact>,
  { publicUrl }: Pick<MessageNames, 'publicUrl'>,
): Value => {
  switch (name) {
    case 'project_name':
      if (trigger.kind === 'budget') return trigger.project ?? undefined
      return 'project_id' in trigger ? projectNameOf(trigger.project_id) : undefined
    case 'run_id':
      return trigger.kind === 'run' || trigger.kind === 'evaluation' ? trigger.run_id : undefined
    case 'run_name':
      return trigger.kind === 'run' || trigger.kind === 'evaluation' ? (trigger.name ?? undefined) : undefined
    case 'run_state':
      if (trigger.kind === 'evaluation') return trigger.outcome
      return trigger.kind === 'run' ? (trigger.state ?? undefined) : undefined
    case 'call_id':
      return callOf(trigger)
    case 'call_url':
      return linkToCall(publicUrl, trigger)
    case 'webhook_id':
      return trigger.kind === 'webhook' ? trigger.webhook_id : undefined
    case 'delivery_id':
      return trigger.kind === 'delivery' ? trigger.delivery_id : undefined
    case 'reason':
      if (trigger.kind === 'evaluation') return trigger.error ?? undefined
      return 'reason' in trigger ? (trigger.reason ?? undefined) : undefined
    default:
      return undefined
  }
}

/** The run of an evaluation is a call with the same id. */
const callOf = (trigger: Trigger): string | undefined => {
  if (trigger.kind === 'evaluation') return trigger.run_id
  return trigger.kind === 'call' || trigger.kind === 'score' ? (trigger.call_id ?? undefined) : undefined
}

/** The page of a call. */
const linkToCall = (publicUrl: string | null, trigger: Trigger): string | undefined => {
  const call = callOf(trigger)
  if (publicUrl === null || call === undefined || !('project_id' in trigger)) return undefined
  const place = [trigger.team, projectNameOf(trigger.project_id ?? '')].map(encodeURIComponent)
  return `${publicUrl}/${place.join('/')}/calls/${encodeURIComponent(call)}`
}
