/** A secret that a template names: the webhook's access token, or its other secret by the name it was stored under. */
export type SecretReference =
  { readonly kind: 'access_token' } | { readonly kind: 'secret'; readonly name: string }

export type Reference = { readonly kind: 'variable'; readonly name: string } | SecretReference

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  /** `inString`: it stands inside a string of the JSON that the template is. */
  | { readonly kind: 'reference'; readonly to: Reference; readonly inString: boolean }

/** A template that was read once; what is put into it is never read again. */
export interface Template {
  readonly parts: readonly Part[]
}

export const MAX_BODY_BYTES = 256 * 1024

const referencesOf = ({ parts }: Template): readonly Reference[] =>
  parts.flatMap((part) => (part.kind === 'reference' ? [part.to] : []))

/** The variables that a template names, each once, in its order. */
export const variablesIn = (template: Template): readonly string[] => {
  const names = referencesOf(template).flatMap((to) => (to.kind === 'variable' ? [to.name] : []))
  return [...new Set(names)]
}

/** The secrets that a template names, as often as it does. */
export const secretsIn = (template: Template): readonly SecretReference[] =>
  referencesOf(template).flatMap((to) => (to.kind === 'variable' ? [] : [to]))
