import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import {
  functionChoice,
  functionTool,
  literalError,
  objectAt,
  objectsAt,
  optional,
  textAt,
  type ChatRequest,
  type Place,
} from './chat-request.js'

/** The name of a function in chat completions, which have no namespaces. */
const chatName = (namespace: Json | undefined, name: string): string =>
  typeof namespace === 'string' ? `${namespace}__${name}` : name

/** The name that a call or a choice is of, in chat completions. */
export const calledNameOf = ({ namespace, name }: JsonObject, at: Place): string =>
  chatName(namespace, textAt(name, [...at, 'name']))

/** What a function is for the client. */
export interface ClientTool {
  readonly name: string
  readonly namespace?: string
  readonly isCustom: boolean
}

/** The tools of a request by their names in chat completions. */
export const clientTools = ({ tools }: JsonObject): ReadonlyMap<string, ClientTool> => {
  const all = new Map<string, ClientTool>()
  const add = (list: Json | undefined, namespace?: string): void => {
    for (const tool of Array.isArray(list) ? list.filter(isJsonObject) : []) {
      const { type, name } = tool
      if (typeof name !== 'string') continue
      if (type === 'namespace' && namespace === undefined) add(tool['tools'], name)
      else
        all.set(chatName(namespace, name), {
          name,
          ...(namespace === undefined ? {} : { namespace }),
          isCustom: type === 'custom',
        })
    }
  }
  add(tools)
  return all
}

const toolsOf = (
  chat: ChatRequest,
  tools: readonly JsonObject[],
  at: Place,
  namespace?: string,
): readonly JsonObject[] =>
  tools.flatMap((tool, index) => {
    const place = [...at, index]
    const { type, description, strict, parameters } = tool
    if (type === 'namespace' && namespace === undefined) {
      const within = [...place, 'tools']
      return toolsOf(chat, objectsAt(tool['tools'], within), within, textAt(tool['name'], [...place, 'name']))
    }
    if (type !== 'function' && type !== 'custom') {
      chat.refuse(place, 'A tool that the provider runs or defines')
      return []
    }
    const name = chatName(namespace, textAt(tool['name'], [...place, 'name']))
    if (type === 'custom') return [customTool(tool, name)]
    const schema = optional(parameters, [...place, 'parameters'], objectAt)
    return [functionTool({ name, description, parameters: schema, strict })]
  })

/** The argument of the function in place of a custom tool. */
const INPUT_SCHEMA = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/** A function with one text. A grammar of it can only be described. */
const customTool = ({ description, format }: JsonObject, name: string): JsonObject => {
  const { definition, syntax } = isJsonObject(format) ? format : {}
  const texts = [
    description,
    typeof definition === 'string'
      ? `The input must match this ${typeof syntax === 'string' ? syntax : ''} grammar:\n${definition}`
      : undefined,
  ].filter((text) => typeof text === 'string')
  return functionTool({ name, description: texts.join('\n\n'), parameters: INPUT_SCHEMA })
}

interface ChosenTools {
  readonly tools: readonly JsonObject[]
  readonly choice: Json | undefined
}

const nameOf = (tool: JsonObject): Json | undefined => (tool['function'] as JsonObject)['name']

export const chosenTools = (
  chat: ChatRequest,
  given: Json | undefined,
  choice: Json | undefined,
): ChosenTools => {
  const tools = toolsOf(chat, optional(given, ['tools'], objectsAt) ?? [], ['tools'])
  if (choice === undefined || choice === null || typeof choice === 'string')
    return { tools, choice: choice ?? undefined }
  const at = ['tool_choice']
  const chosen = objectAt(choice, at)
  const { type, mode, tools: allowed } = chosen
  if (type === 'function' || type === 'custom')
    return { tools, choice: functionChoice(calledNameOf(chosen, at)) }
  if (type !== 'allowed_tools') throw literalError([...at, 'type'], ['function', 'custom', 'allowed_tools'])
  const within = [...at, 'tools']
  const names = new Set<Json | undefined>(
    objectsAt(allowed, within).map((tool, index) => calledNameOf(tool, [...within, index])),
  )
  return { tools: tools.filter((tool) => names.has(nameOf(tool))), choice: textAt(mode, [...at, 'mode']) }
}
