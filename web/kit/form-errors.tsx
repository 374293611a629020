import { useEffect, type RefObject } from 'react'
import { ApiError } from './api.js'
import { messageOf } from './states.js'

/** What the service said about a field of the body, by its name and those of its parents. */
export const problemAt = (error: Error | null, ...path: readonly string[]): string | undefined => {
  if (!(error instanceof ApiError)) return undefined
  const wanted = path.join('.')
  const found = error.problems.filter(({ loc }) => {
    const at = loc.slice(1).join('.')
    return at === wanted || at.startsWith(`${wanted}.`)
  })
  return found.length === 0 ? undefined : found.map(({ msg }) => msg).join('. ')
}

/** Moves the focus to the first field that was refused, once it is marked. */
export const useFocusOnProblem = (form: RefObject<HTMLElement | null>, error: Error | null): void =>
  useEffect(() => {
    if (error !== null) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [form, error])

/** Why a form was not saved. */
export const NotSaved = ({ error, what }: { readonly error: Error | null; readonly what: string }) => {
  if (error === null) return null
  return (
    <div className="notice" data-tone="danger" role="alert">
      <strong>{what} was not saved</strong>
      <div>{messageOf(error)}</div>
    </div>
  )
}
