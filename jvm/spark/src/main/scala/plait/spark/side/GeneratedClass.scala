// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, LeafExpression}

/** A class that is compiled in a task, and one object of it:
  *
  * {{{
  * class SpecificSideReader extends SideReader {
  *   the fields and functions that the expressions of a context ask for
  *   public void read(InternalRow source, long known) { ... }
  * }
  * }}}
  *
  * All tasks of an executor share the class, as nothing in it is of one of them alone: Spark compiles the same text once.
  */
object GeneratedClass {

  /** Is the expression evaluated of a row, for want of code? A leaf reads none. */
  def hasNoCode(expression: Expression): Boolean = expression match {
    case _: LeafExpression => false
    case _: CodegenFallback => true
    case _ => false
  }

  /** Without aliases, as by Spark's ExpressionCanonicalizer: that executes rules, which takes each task as long as to write
    * the code. Of an alias of an alias one stays, whose code is that of its child.
    */
  def canonical(expression: Expression): Expression =
    expression.transform { case alias: Alias => alias.child }

  /** @param methods
    *   what the parent leaves open, in Java
    */
  def of[C](parent: Class[C], context: CodegenContext, methods: String): C = {
    val name = s"Specific${parent.getSimpleName}"
    val source = s"""
      public Object generate(Object[] references) { return new $name(references); }

      class $name extends ${parent.getName} {
        private Object[] references;
        ${context.declareMutableStates()}

        public $name(Object[] references) {
          this.references = references;
          ${context.initMutableStates()}
        }

        $methods

        ${context.declareAddedFunctions()}
      }"""
    val code = new CodeAndComment(source, context.getPlaceHolderToComments())
    val (made, _) = CodeGenerator.compile(CodeFormatter.stripOverlappingComments(code))
    parent.cast(made.generate(context.references.toArray))
  }
}
