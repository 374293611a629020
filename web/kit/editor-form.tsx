import { Button } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import { useRef, type ReactNode } from 'react'
import { NotSaved, useFocusOnProblem } from './form-errors.js'
import { onSubmit } from './on-submit.js'

/** The form of a resource with its button to save, and a second column. */
export const EditorForm = ({
  name,
  action,
  saving,
  isDisabled = false,
  aside,
  dialog,
  children,
}: {
  /** Of the resource, such as `Webhook`. */
  readonly name: string
  readonly action: string
  readonly saving: UseMutationResult<unknown, Error, void>
  readonly isDisabled?: boolean
  readonly aside: ReactNode
  /** Of `useUnsaved`. */
  readonly dialog: ReactNode
  readonly children: ReactNode
}) => {
  const form = useRef<HTMLFormElement>(null)
  useFocusOnProblem(form, saving.error)
  return (
    <div className="columns">
      <form
        ref={form}
        className="form"
        noValidate
        aria-label={name}
        onSubmit={onSubmit(() => {
          saving.mutate()
        })}
      >
        {children}
        <NotSaved error={saving.error} what={`The ${name.toLowerCase()}`} />
        <div className="bar">
          <Button type="submit" loading={saving.isPending} disabled={isDisabled}>
            {action}
          </Button>
          <span role="status">{saving.isSuccess ? 'Saved.' : ''}</span>
        </div>
      </form>
      {aside}
      {dialog}
    </div>
  )
}
