import type { JsonObject } from '../../../src/kernel/json/json.js'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: JsonObject
}

export interface ResponseSpec {
  readonly headers: Readonly<Record<string, { readonly required?: boolean }>>
  readonly content: Readonly<Record<string, { readonly schema: JsonObject }>>
}

export interface Operation {
  readonly tags: readonly string[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonObject }>> }
  readonly responses: Readonly<Record<string, ResponseSpec>>
  readonly security?: readonly unknown[]
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: JsonObject }
}

/** An operation with where it is served. */
export interface Served extends Operation {
  readonly template: string
  readonly method: string
  /** Groups what its answers hold with the requests that may name it. */
  readonly area: string
}

/** Their ids would be lost among those of calls, which have the same tag. */
const RULES = '/api/evaluation-rules/'

export const operationsOf = ({ paths }: Description): readonly Served[] =>
  Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      template,
      method: method.toUpperCase(),
      area: template.startsWith(RULES) ? RULES : (operation.tags[0] ?? ''),
    })),
  )
