import type { JsonObject } from '../../../src/domain/json/json.js'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: JsonObject
}

interface Content {
  readonly schema: JsonObject
}

export interface DescribedAnswer {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: JsonObject }>>
  readonly content: Readonly<Record<string, Content>>
}

interface DescribedOperation {
  readonly operationId: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, DescribedAnswer>>
  readonly security?: readonly unknown[]
}

/** What `/openapi.json` answers, as far as tests look into it. */
export interface Description extends JsonObject {
  readonly paths: JsonObject
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> }
}

export interface Operation extends DescribedOperation {
  readonly method: string
  /** As the description writes it, `/v2/{entity}/{project}/call/start`. */
  readonly template: string
  /** The media type of its body and the schema, where it has one. */
  readonly body: { readonly type: string; readonly schema: JsonObject } | undefined
  readonly isOpen: boolean
}

/** Every operation of a description. */
export const operationsOf = ({ paths }: Description): readonly Operation[] =>
  Object.entries(paths as unknown as Record<string, Record<string, DescribedOperation>>).flatMap(
    ([template, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const [body] = Object.entries(operation.requestBody?.content ?? {})
        return {
          ...operation,
          method: method.toUpperCase(),
          template,
          body: body === undefined ? undefined : { type: body[0], schema: body[1].schema },
          isOpen: operation.security?.length === 0,
        }
      }),
  )
