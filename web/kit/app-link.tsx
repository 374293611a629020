import { useNavigate } from '@tanstack/react-router'
import type { AnchorHTMLAttributes } from 'react'
import { withAsOf } from './as-of.js'

type Attributes = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'onClick'>

/** A link to a page by its whole address, which opens without loading the application again. */
export const AppLink = ({ href: to, ...attributes }: Attributes & { readonly href: string }) => {
  const navigate = useNavigate()
  const href = withAsOf(to)
  return (
    <a
      href={href}
      {...attributes}
      onClick={(event) => {
        if (event.defaultPrevented || event.button !== 0) return
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        void navigate({ href })
      }}
    />
  )
}
