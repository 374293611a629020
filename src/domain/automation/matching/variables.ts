import { utf8Bytes } from '../../codec/text.js'
import { digitsIn, rememberDigits } from '../../json/digits.js'
import type { Json } from '../../json/json.js'
import { MAX_BODY_BYTES, variablesIn, type Template } from '../../template/template.js'
import { METADATA_PREFIX, type Variables } from '../../template/variables.js'
import type { EventType } from '../events.js'
import type { Trigger, VersionShown } from './trigger.js'
import type { Figure } from './verdict.js'

/** What a delivery's message can tell of, beside its trigger. */
export interface Told {
  readonly eventType: EventType
  readonly figure: Figure | null
  /** The version of an artifact's trigger, see `versionShown`; undefined where nobody knows it. */
  readonly shown: VersionShown | undefined
  /** The scheme of references is `<vendor>-artifact`; lower case. */
  readonly vendor: string
}

type Value = Json | undefined

/**
 * The variables that a template names, with the values that they have for a trigger: frozen with its delivery. Those
 * that the trigger has nothing for are left out.
 *
 * Values that are too many for a body are cut off behind the one that was too much: it renders to an error all the same.
 */
export const variablesFor = (template: Template, trigger: Trigger, told: Told): Variables => {
  const variables: Record<string, Json> = {}
  let bytes = 0
  for (const name of variablesIn(template)) {
    const key = name.startsWith(METADATA_PREFIX) ? name.slice(METADATA_PREFIX.length) : undefined
    const value = key === undefined ? valueOf(name, trigger, told) : metadata(told.shown, key)
    if (value === undefined) continue
    variables[name] = value
    const digits = key === undefined ? undefined : digitsIn(told.shown!.metadata, key)
    if (digits !== undefined) rememberDigits(variables, name, digits)
    bytes += leastBytes(value)
    if (bytes > MAX_BODY_BYTES) break
  }
  return variables
}

/** What a value takes in a body at the least: inside a string, text stands without quotes of its own. */
const leastBytes = (value: Json): number =>
  utf8Bytes(JSON.stringify(value)) - (typeof value === 'string' ? 2 : 0)

const metadata = (shown: VersionShown | undefined, key: string): Value =>
  shown !== undefined && Object.hasOwn(shown.metadata, key) ? shown.metadata[key] : undefined

const valueOf = (name: string, trigger: Trigger, told: Told): Value => {
  switch (name) {
    case 'event_type':
      return told.eventType
    case 'event_author':
      return trigger.author
    case 'entity_name':
      return trigger.team
    case 'metric_name':
    case 'metric_value':
    case 'threshold':
      return told.figure?.[name]
    default:
      return ofKind(name, trigger, told)
  }
}

/** Aliases and tags are empty where there are none, all else is then missing. */
const ofKind = (name: string, trigger: Trigger, told: Told): Value => {
  const own = trigger.kind === 'artifact' ? ofArtifact(name, trigger, told) : ofOthers(name, trigger)
  return own ?? (name === 'alias' || name === 'tag' ? '' : undefined)
}

/** Of a text's UTF-8. */
const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)))

type Artifact = Extract<Trigger, { readonly kind: 'artifact' }>

const ofArtifact = (name: string, trigger: Artifact, { shown, vendor }: Told): Value => {
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
      return shown && `${vendor}-artifact://_id/${base64(`Artifact:${shown.artifact_id}`)}`
    case 'artifact_version_string':
      return `${team}/${project}/${collection}:${alias ?? `v${version}`}`
    default:
      return undefined
  }
}

/** A registry stands where a project would. */
const placeOf = ({ project_id, registry }: Artifact): string => registry ?? projectName(project_id ?? '')

const projectName = (project_id: string): string => project_id.slice(project_id.indexOf('/') + 1)

const ofOthers = (name: string, trigger: Exclude<Trigger, Artifact>): Value => {
  switch (name) {
    case 'project_name':
      if (trigger.kind === 'budget') return trigger.project ?? undefined
      return 'project_id' in trigger ? projectName(trigger.project_id) : undefined
    case 'run_id':
      return trigger.kind === 'run' ? trigger.run_id : undefined
    case 'run_name':
      return trigger.kind === 'run' ? trigger.name : undefined
    case 'run_state':
      return trigger.kind === 'run' ? (trigger.state ?? undefined) : undefined
    case 'call_id':
      return trigger.kind === 'call' ? trigger.call_id : undefined
    case 'webhook_id':
      return trigger.kind === 'webhook' ? trigger.webhook_id : undefined
    case 'delivery_id':
      return trigger.kind === 'delivery' ? trigger.delivery_id : undefined
    case 'reason':
      return 'reason' in trigger ? (trigger.reason ?? undefined) : undefined
    default:
      return undefined
  }
}
