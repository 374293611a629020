import type { TestService } from '../../support/service.js'

export interface Endpoint {
  readonly method: string
  /** With the parameters of its path filled in. */
  readonly path: string
  /** As the API description writes it. */
  readonly template: string
  readonly takesJson: boolean
  readonly isOpen: boolean
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> }
  readonly security?: readonly unknown[]
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

let known: Paths | undefined

/** The description is the same for every service of a process, and long. */
const pathsOf = async (service: TestService): Promise<Paths> =>
  (known ??= (await service.send('GET', '/openapi.json')).json<{ paths: Paths }>().paths)

/** Every endpoint the service says it has, so that none can be forgotten. */
export const endpointsOf = async (
  service: TestService,
  project = 'somebody/project',
): Promise<readonly Endpoint[]> => {
  const paths = await pathsOf(service)
  const [entity, name] = project.split('/') as [string, string]
  const filled = (template: string): string =>
    template
      .replace('{entity}', entity)
      .replace('{project}', name)
      .replace('{team}', entity)
      .replace(/\{(prediction|score)_id\}/, 'some-$1')
      .replace(/\{\w+\}/g, 'something')
  return Object.entries(paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([method, { requestBody, security }]) => ({
      method: method.toUpperCase(),
      path: filled(template),
      template,
      takesJson: requestBody !== undefined && 'application/json' in requestBody.content,
      isOpen: security?.length === 0,
    })),
  )
}
